//! Random small programs in which one machine comes first. The one that is hit notes in which order; of one order something is claimed, or it begins to go
//! round for ever. What is special is how rivals get the reference that they send to, and what else goes on meanwhile: for each condition
//! under which steps may go first, alone, there is a [`Kind`] that needs it. A search without the condition misses an order.
//!
//! Persistent sets need to know which machines can be sent to, created, woken or observed; path compression, and the question whether every run ends, that all of a set
//! step, which shows only where two races are independent of all others; confluent sends, what can still be observed, and what may crash or get lost.

use crate::random::Random;

/// What the program is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Two pairs of rivals, so that no set has fewer than two: a search that takes one of them only misses the order of its pair.
    TwoPairs,
    /// Steps of one machine alone have several outcomes.
    Asked,
    /// One of them waits until another one wakes it: it does nothing now, and yet has to be reckoned with.
    Woken,
    /// One of them does not know yet which machine to hit; another sends it the name, one that is made does, or sends it to one that is made.
    Announced,
    ToldByMade,
    ToldWhenMade,
    /// One of them is not made yet; or the one that makes it is not awake yet.
    Made,
    MadeLater,
    /// The target acts on an empty inbox; hits itself.
    OnNull,
    Itself,
    /// A monitor notes the order of what is said: at once, after a send, after making a machine, by one that waits, by one that is made, by sends.
    Said,
    SaidAfterSend,
    SaidAfterMaking,
    SaidLater,
    SaidByMade,
    HeardSends,
    /// A machine ticks for ever, independent of all others: at once, if it is asked, or after others have gone on.
    Ticks,
    TicksIfAsked,
    TicksLater,
    /// Hits are ignored for now: in this control state, or until `receive` asks for them.
    IgnoredNow,
    IgnoredUntilReceived,
    /// The target is about to do something that is observed.
    Busy,
    /// After an independent send it is asked, and one answer breaks something.
    Fails,
    /// A message takes two paths, and another one the third.
    Triangle,
}

const KINDS: [Kind; 25] = [
    Kind::TwoPairs,
    Kind::TwoPairs,
    Kind::Asked,
    Kind::Woken,
    Kind::Announced,
    Kind::ToldByMade,
    Kind::ToldWhenMade,
    Kind::Made,
    Kind::MadeLater,
    Kind::OnNull,
    Kind::Itself,
    Kind::Said,
    Kind::SaidAfterSend,
    Kind::SaidAfterMaking,
    Kind::SaidLater,
    Kind::SaidByMade,
    Kind::HeardSends,
    Kind::Ticks,
    Kind::TicksIfAsked,
    Kind::TicksLater,
    Kind::IgnoredNow,
    Kind::IgnoredUntilReceived,
    Kind::Busy,
    Kind::Fails,
    Kind::Triangle,
];

/// How many kinds there are; they come in turn.
pub const N_KINDS: u64 = KINDS.len() as u64;

/// The program of a seed.
pub fn races(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x0021_7a15);
    let kind = KINDS[(seed % N_KINDS) as usize];
    let (judge, mut begin) = scene(&mut random, kind);
    // Which order is claimed not to come: which is first, and which comes next, if any.
    let orders: &[(usize, usize)] = match kind {
        // The third has one rival only, whichever that is.
        Kind::TwoPairs => &[(1, 2), (2, 1), (1, 3), (2, 3), (3, 1), (3, 2)],
        _ => &[(1, 2), (2, 1), (1, 2), (2, 1), (0, 1), (0, 2), (1, 3), (2, 3), (3, 1), (3, 2)],
    };
    let (first, next) = *random.pick(orders);
    let order = first * 4 + next;
    let on_order = match random.below(4) {
        0 => String::new(),
        1 | 2 => format!("if (order == {order}) {{ announce eUp; send this, eTick; }}"),
        _ => format!("assert order != {order}, \"order\";"),
    };
    let on_heard = match random.below(3) {
        0 => String::new(),
        1 => format!("if (order == {order}) {{ goto Hot; }}"),
        _ => format!("assert order != {order}, \"order\";"),
    };
    if !matches!(kind, Kind::TwoPairs | Kind::TicksIfAsked) && random.chance(25) {
        begin.push("new Runner((whom = new Judge(), k = 1));".to_owned());
    }
    let main = format!(
        "machine Main {{\n  start state S {{\n    entry {{\n      var judge: machine; var other: machine; var third: machine;\n      judge = new {judge}();\n      {}\n    }}\n    ignore eGo;\n  }}\n}}\n",
        begin.join("\n      ")
    );
    let on_hit = format!("on eHit do (k: int) {{ order = (order * 4 + k) % 256; {on_order} }}");
    let mut out = main;
    let wrong = random.below(3).to_string();
    let mut missing: Vec<String> =
        MACHINES.iter().map(|text| text.replace("ON_HIT", &on_hit).replace("WRONG", &wrong)).collect();
    // Only what is made is declared, so that faults of networks meet something.
    loop {
        let is_made = |text: &String| {
            let name = text.split_whitespace().nth(1).unwrap_or_default();
            out.contains(&format!("new {name}("))
        };
        let Some(at) = missing.iter().position(is_made) else { break };
        out.push_str(&missing.remove(at));
    }
    out.push_str(&format!(
        "spec Ear observes eUp, eSay{} {{\n  var order: int;\n  start state S {{\n    on eUp goto Hot;\n    \
         on eSay do (k: int) {{ order = (order * 4 + k) % 256; {on_heard} }}\n{}  }}\n  hot state Hot {{ ignore eUp, eSay{}; }}\n}}\n",
        if kind == Kind::HeardSends { ", eHit" } else { "" },
        match kind {
            Kind::HeardSends =>
                format!("    on eHit do (k: int) {{ order = (order * 4 + k) % 256; {on_heard} }}\n"),
            _ => String::new(),
        },
        if kind == Kind::HeardSends { ", eHit" } else { "" },
    ));
    let names: Vec<&str> =
        out.lines().filter_map(|line| line.strip_prefix("machine ")?.split_whitespace().next()).collect();
    let test = format!("test t [main = Main]: assert Ear in {{ {} }};\n", names.join(", "));
    let used: Vec<&str> = EVENTS
        .iter()
        .copied()
        .filter(|event| {
            let name = event.split_whitespace().nth(1).unwrap_or_default();
            let is_end = |rest: &str| !rest.starts_with(char::is_alphanumeric);
            let name = name.trim_end_matches([':', ';']);
            out.match_indices(name).any(|(at, _)| is_end(&out[at + name.len()..]))
        })
        .collect();
    format!("{}\n{out}{test}", used.join("\n"))
}

/// The target, and what the main machine does.
fn scene(random: &mut Random, kind: Kind) -> (&'static str, Vec<String>) {
    let k = random.between(1, 2);
    let (one, two) = (k, 3 - k);
    let runner = |whom: &str, k: usize| format!("new Runner((whom = {whom}, k = {k}));");
    let mut begin = Vec::new();
    let mut judge = "Judge";
    // What comes in any order, after what has to come first.
    let mut any: Vec<String> = Vec::new();
    match kind {
        Kind::TwoPairs => {
            begin.push("other = new Judge();".to_owned());
            any = vec![runner("judge", one), runner("judge", two), runner("other", one)];
        }
        Kind::Asked => {
            any = vec!["new Asked(new Sink());".to_owned(), runner("judge", one)];
        }
        Kind::Woken => {
            begin.push(format!("other = new Waiter((whom = judge, k = {one}));"));
            any = vec!["new Waker(other);".to_owned(), runner("judge", two)];
        }
        Kind::Announced => {
            begin.push(format!("other = new Guest({one});"));
            any = vec!["new Host((guest = other, whom = judge));".to_owned(), runner("judge", two)];
        }
        Kind::ToldByMade => {
            begin.push(format!("other = new Guest({one});"));
            any = vec!["new HostMaker((guest = other, whom = judge));".to_owned(), runner("judge", two)];
        }
        Kind::ToldWhenMade => {
            begin.push("other = new Teller(judge);".to_owned());
            any = vec![format!("new GuestMaker((whom = other, k = {one}));"), runner("judge", two)];
        }
        Kind::Made => {
            any = vec![format!("new Maker((whom = judge, k = {one}));"), runner("judge", two)];
        }
        Kind::MadeLater => {
            begin.push(format!("other = new LateMaker((whom = judge, k = {one}));"));
            any = vec!["new Waker(other);".to_owned(), runner("judge", two)];
        }
        Kind::OnNull => {
            judge = "Idler";
            any = vec![runner("judge", one)];
        }
        Kind::Itself => {
            judge = "Selfish";
            any = vec![runner("judge", two)];
        }
        Kind::Said => any = vec![format!("new Crier({one});"), format!("new Crier({two});")],
        Kind::SaidAfterSend => any = vec![format!("new Sender({one});"), format!("new Sender({two});")],
        Kind::SaidAfterMaking => {
            any = vec![format!("new Parent({one});"), format!("new Parent({two});")];
        }
        Kind::SaidLater => {
            begin.push(format!("other = new LateCrier({one});"));
            any = vec!["new Waker(other);".to_owned(), format!("new Crier({two});")];
        }
        Kind::SaidByMade => {
            any = vec![format!("new CrierMaker({one});"), format!("new Crier({two});")];
        }
        Kind::HeardSends => {
            begin.push("other = new Judge();".to_owned());
            any = vec![runner("judge", one), runner("other", two)];
        }
        Kind::Ticks => any = vec![format!("new Ticker({one});"), runner("judge", two)],
        Kind::TicksIfAsked => {
            any = vec!["new AskedTicker(new Sink());".to_owned(), runner("judge", one)];
        }
        Kind::TicksLater => {
            any = vec!["new LateTicker(new Sink());".to_owned(), runner("judge", one)];
        }
        Kind::IgnoredNow | Kind::IgnoredUntilReceived => {
            judge = if kind == Kind::IgnoredNow { "Sleeper" } else { "Receiver" };
            any = vec!["new Waker(judge);".to_owned(), runner("judge", one)];
            if random.chance(50) {
                any.push(runner("judge", two));
            }
        }
        Kind::Busy => {
            judge = "Busy";
            any = vec!["new Waker(judge);".to_owned(), runner("judge", one), runner("judge", two)];
        }
        Kind::Fails => {
            begin.push("other = new Sink();".to_owned());
            any = vec!["new Failing(other);".to_owned(), runner("judge", one)];
        }
        Kind::Triangle => {
            begin.push(format!("other = new Relay((whom = judge, k = {one}));"));
            begin.push(format!("third = new Source((whom = judge, k = {two}, relay = other));"));
        }
    }
    // Which of several goes first is decided by names.
    while !any.is_empty() {
        begin.push(any.remove(random.below(any.len())));
    }
    match kind {
        Kind::TwoPairs => begin.push("send other, eHit, 3;".to_owned()),
        Kind::Asked | Kind::TicksIfAsked => {
            begin.push(format!("send judge, eHit, {two};"));
        }
        Kind::OnNull | Kind::Itself if random.chance(50) => {
            begin.push(format!("send judge, eHit, {two};"));
        }
        _ => {}
    }
    (judge, begin)
}

const EVENTS: [&str; 8] = [
    "event eHit: int;",
    "event eSay: int;",
    "event eMeet: machine;",
    "event eGo;",
    "event eTick;",
    "event eUp;",
    "event eNoise;",
    "event eMore;",
];

const MACHINES: [&str; 29] = [
    "machine Judge {
  var order: int;
  start state S {
    ON_HIT
    on eTick do { send this, eTick; }
  }
}
",
    "machine Idler {
  var order: int;
  start state S {
    on null do { order = (order * 4 + 3) % 256; goto Late; }
    ON_HIT
    on eTick do { send this, eTick; }
  }
  state Late {
    ON_HIT
    on eTick do { send this, eTick; }
  }
}
",
    "machine Selfish {
  var order: int;
  start state S {
    entry { new Sink(); send this, eHit, 3; }
    ON_HIT
    on eTick do { send this, eTick; }
  }
}
",
    "machine Sleeper {
  var order: int;
  start state S {
    ignore eHit;
    on eGo goto Awake;
  }
  state Awake {
    ON_HIT
    on eTick do { send this, eTick; }
  }
}
",
    "machine Receiver {
  var order: int;
  start state S {
    ignore eHit;
    on eGo do {
      send this, eMore;
      receive { case eHit: (k: int) { order = order * 4 + k; } case eMore: { order = 3; } }
    }
    on eMore do { order = order * 4 + 3; }
  }
}
",
    "machine Busy {
  var order: int;
  start state S {
    ignore eHit;
    on eGo do { announce eSay, 3; goto Awake; }
  }
  state Awake {
    ON_HIT
    on eTick do { send this, eTick; }
  }
}
",
    "machine Failing {
  var n: int;
  start state S {
    entry (sink: machine) {
      send sink, eNoise;
      n = choose(3);
      assert n != WRONG, \"asked\";
      send sink, eNoise;
    }
  }
}
",
    "machine Sink {
  start state S { ignore eNoise; }
}
",
    "machine Runner {
  start state S { entry (p: (whom: machine, k: int)) { send p.whom, eHit, p.k; } }
}
",
    "machine Asked {
  var n: int;
  start state S {
    entry (sink: machine) {
      send sink, eNoise;
      if ($) { n = 1; }
      send sink, eNoise;
      if (n == 1) { send sink, eNoise; }
    }
  }
}
",
    "machine Waiter {
  var whom: machine; var k: int;
  start state S {
    entry (p: (whom: machine, k: int)) { whom = p.whom; k = p.k; }
    on eGo do { send whom, eHit, k; }
  }
}
",
    "machine Waker {
  start state S { entry (whom: machine) { send whom, eGo; } }
}
",
    "machine Guest {
  var k: int;
  start state S {
    entry (p: int) { k = p; }
    on eMeet do (whom: machine) { send whom, eHit, k; }
  }
}
",
    "machine Host {
  start state S { entry (p: (guest: machine, whom: machine)) { send p.guest, eMeet, p.whom; } }
}
",
    "machine HostMaker {
  start state S { entry (p: (guest: machine, whom: machine)) { new Host(p); } }
}
",
    "machine Teller {
  var whom: machine;
  start state S {
    entry (p: machine) { whom = p; }
    on eMeet do (guest: machine) { send guest, eMeet, whom; }
  }
}
",
    "machine GuestMaker {
  start state S { entry (p: (whom: machine, k: int)) { send p.whom, eMeet, new Guest(p.k); } }
}
",
    "machine Maker {
  start state S { entry (p: (whom: machine, k: int)) { new Runner(p); } }
}
",
    "machine LateMaker {
  var whom: machine; var k: int;
  start state S {
    entry (p: (whom: machine, k: int)) { whom = p.whom; k = p.k; }
    on eGo do { new Runner((whom = whom, k = k)); }
  }
}
",
    "machine Crier {
  start state S { entry (k: int) { announce eSay, k; } }
}
",
    "machine Sender {
  start state S { entry (k: int) { send new Sink(), eNoise; announce eSay, k; } }
}
",
    "machine Parent {
  start state S { entry (k: int) { new Sink(); announce eSay, k; } }
}
",
    "machine LateCrier {
  var k: int;
  start state S {
    entry (p: int) { k = p; }
    on eGo do { announce eSay, k; }
  }
}
",
    "machine CrierMaker {
  start state S { entry (k: int) { new Crier(k); } }
}
",
    "machine Ticker {
  var n: int; var length: int;
  start state S {
    entry (p: int) { length = p; send this, eTick; }
    on eTick do { n = n + 1; if (n == length) { n = 0; } send this, eTick; }
  }
}
",
    "machine AskedTicker {
  start state S {
    entry (sink: machine) {
      send sink, eNoise;
      if ($) { send sink, eNoise; goto Ticking; }
    }
  }
  state Ticking {
    entry { send this, eTick; }
    on eTick do { send this, eTick; }
  }
}
",
    "machine LateTicker {
  var n: int;
  start state S {
    entry (sink: machine) {
      while (n < 3) { send sink, eNoise; n = n + 1; }
      goto Ticking;
    }
  }
  state Ticking {
    entry { send this, eTick; }
    on eTick do { n = 1 - n; send this, eTick; }
  }
}
",
    "machine Relay {
  var whom: machine; var k: int;
  start state S {
    entry (p: (whom: machine, k: int)) { whom = p.whom; k = p.k; }
    on eGo do { send whom, eHit, k; }
  }
}
",
    "machine Source {
  start state S {
    entry (p: (whom: machine, k: int, relay: machine)) { send p.whom, eHit, p.k; send p.relay, eGo; }
  }
}
",
];

//! Random programs in which a machine sends the same to all its peers, in a loop. In most the order can be seen, by one means each ([`Sight`]):
//! a monitor observes the order, another machine sends to the peers because one of them was reached, the loop leaves a peer out, and
//! so on. Peers have numbers and are put into the collection in any order, and something is claimed of one number that is true of all
//! orders but some; so a search that explores one order only misses something there. For each condition under which broadcasts have no
//! order there is one that needs it.

use crate::random::Random;

/// How the order may be seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sight {
    Unobserved,
    /// A monitor hears of the sends.
    Monitor,
    /// A receiver makes others send to the peers: a second sender, another machine that is there always,
    /// sometimes or never, the main one, the peers themselves.
    SecondLead,
    Rogue(&'static str),
    Main,
    Peers,
    /// A peer that was not reached yet sends to itself, after something that may come after another was reached.
    Itself,
    /// The same with what it does on an empty inbox.
    EmptyInbox,
    /// The sender is one of the receivers.
    LeadItself,
    /// The variable of the loop is used after it; another one; a field; another place of the collection.
    Variable,
    Last,
    LastField,
    First,
    /// What is sent depends on the position, on which peers received before, on another collection.
    Counter,
    Previous,
    Marks,
    /// Some are left out: it may begin later, always or not, or takes steps of two.
    LaterOrNot,
    Later,
    Steps,
    /// The loop reports each to another machine, or calls what does.
    ThirdParty,
    Call,
}

const SIGHTS: [Sight; 27] = [
    Sight::Unobserved,
    Sight::Monitor,
    Sight::SecondLead,
    Sight::Rogue("aide = new Rogue(mark);"),
    Sight::Rogue("if ($) { aide = new Rogue(mark); }"),
    Sight::Rogue("if (sizeof(peers) > 9) { aide = new Rogue(mark); }"),
    Sight::Unobserved,
    Sight::Main,
    Sight::Peers,
    Sight::Itself,
    Sight::EmptyInbox,
    Sight::Unobserved,
    Sight::LeadItself,
    Sight::Variable,
    Sight::Last,
    Sight::LastField,
    Sight::First,
    Sight::Unobserved,
    Sight::Counter,
    Sight::Previous,
    Sight::Marks,
    Sight::LaterOrNot,
    Sight::Later,
    Sight::Unobserved,
    Sight::Steps,
    Sight::ThirdParty,
    Sight::Call,
];

/// The program of a seed. The means to see the order come in turn.
pub fn broadcasts(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x007e_11e2);
    let sight = SIGHTS[(seed % SIGHTS.len() as u64) as usize];
    // A machine that makes others send has many orders to explore.
    let has_aide = matches!(
        sight,
        Sight::SecondLead | Sight::Rogue(_) | Sight::Main | Sight::Peers | Sight::Itself | Sight::EmptyInbox
    );
    let n_peers = if has_aide || random.chance(80) { 2 } else { 3 };
    let n_rounds = if has_aide || random.chance(70) { 1 } else { 2 };
    let kind = if random.chance(50) { "seq" } else { "set" };
    // The machine of which something is claimed, and the one that is made first. Collections without order are in that of names, so mostly the one order that
    // would be explored is not the one that breaks the claim.
    let id = random.below(n_peers);
    let is_first_broken = matches!(
        sight,
        Sight::Monitor
            | Sight::Counter
            | Sight::Marks
            | Sight::Previous
            | Sight::First
            | Sight::Steps
            | Sight::ThirdParty
            | Sight::Call
    );
    let first = match random.chance(75) {
        true if is_first_broken => (id + 1) % n_peers,
        true => id,
        false => random.below(n_peers),
    };
    let fill = match kind {
        "seq" => "peers = all;",
        _ => "foreach (p in all) { peers += (p); }",
    };
    let (tell, after) = tell(&mut random, sight);
    let aide = match sight {
        Sight::Rogue(made) => made,
        Sight::Main => "aide = this; known = mark;",
        Sight::SecondLead => {
            "aide = new Lead((peers = peers, aide = null as machine, hub = null as machine, waits = true));"
        }
        _ => "",
    };
    let hub = match sight {
        Sight::Itself | Sight::EmptyInbox | Sight::ThirdParty | Sight::Call => "hub = new Hub();",
        _ => "",
    };
    let other = if sight == Sight::Peers { "mark" } else { "null as machine" };
    let born = if sight == Sight::Monitor {
        format!("announce eBorn, (id = (i + {first}) % {n_peers}, who = p);")
    } else {
        String::new()
    };
    let on_go = match sight {
        Sight::Main => "on eGo do { send known, eSelf; }",
        _ => "ignore eGo;",
    };
    let also_itself = match (sight, kind) {
        (Sight::LeadItself, "seq") => {
            "if ($) { peers += (0, this); } else { peers += (sizeof(peers), this); }"
        }
        (Sight::LeadItself, _) => "peers += (this);",
        _ => "",
    };
    let answer = match (sight, random.below(4)) {
        (Sight::LeadItself, _) => "send t.lead, eBack, (id = id, who = this);",
        (_, _) if has_aide => "",
        (_, 0) => "",
        (_, 1) => "if ($) { send t.lead, eBack, (id = id, who = this); }",
        (_, _) => "send t.lead, eBack, (id = id, who = this);",
    };
    let hello = match sight {
        Sight::Itself => "send hub, eHello, id; send this, eSelf;".to_owned(),
        // One that does so is enough.
        Sight::EmptyInbox => format!("if (id != {id}) {{ goto Quiet; }}"),
        _ => String::new(),
    };
    let on_null = match sight {
        Sight::EmptyInbox => {
            "on null do { send hub, eHello, id; if (is_late) { goto Quiet; } is_late = true; }"
        }
        _ => "",
    };
    let on_tell = match sight {
        Sight::SecondLead => {
            format!("assert !(id == {id} && got == 0 && t.n == 3), \"reached by the other first\";")
        }
        Sight::Counter | Sight::Marks => format!("assert !(id == {id} && t.n == 0), \"first\";"),
        Sight::Previous => format!("assert !(id == {id} && t.who == null), \"first\";"),
        Sight::LaterOrNot | Sight::Later | Sight::Steps => format!("assert id != {id}, \"not left out\";"),
        Sight::Itself => "send hub, eTold, (id = id, is_ready = got > 0);".to_owned(),
        Sight::EmptyInbox => "send hub, eTold, (id = id, is_ready = false);".to_owned(),
        Sight::Unobserved => match random.below(4) {
            0 => format!("assert !(id == {id} && got > 0), \"reached twice\";"),
            _ => String::new(),
        },
        _ => String::new(),
    };
    let on_self = match sight {
        Sight::Rogue(_) | Sight::Main | Sight::Peers => {
            format!("assert !(id == {id} && got == 0), \"not reached yet\";")
        }
        _ => String::new(),
    };
    let on_last = match sight {
        Sight::Variable | Sight::Last | Sight::LastField | Sight::First | Sight::ThirdParty | Sight::Call => {
            format!("assert id != {id}, \"last\";")
        }
        _ => String::new(),
    };
    let own_tell = match sight {
        Sight::LeadItself => "assert n == 0, \"answered before\";",
        _ => "",
    };
    // Hello of the one comes after another was reached, and then it was not reached before it was ready; or it comes twice.
    let on_told = match sight {
        Sight::Itself => format!("assert !(t.id == {id} && is_late && t.is_ready), \"late\"; is_any = true;"),
        _ => "is_any = true;".to_owned(),
    };
    let on_hello = match sight {
        Sight::Itself => format!("if (k == {id} && is_any) {{ is_late = true; }}"),
        Sight::EmptyInbox => {
            format!("if (k == {id} && is_any) {{ assert !is_late, \"late\"; is_late = true; }}")
        }
        _ => String::new(),
    };
    let limit = if sight == Sight::Unobserved && random.chance(40) { random.between(4, 30) } else { 50 };
    let (spec, test) = match sight {
        Sight::Monitor if random.chance(80) => ("eTell, eBorn", format!("assert Ear in {ALL}")),
        Sight::Monitor => ("eTell, eBorn", ALL.to_owned()),
        _ if random.chance(30) => ("eBack, eBorn", format!("assert Ear in {ALL}")),
        _ => ("eBorn", format!("assert Ear in {ALL}")),
    };
    let hears = match spec {
        "eTell, eBorn" => format!(
            "on eTell do (t: News) {{ if (t.who in ids && !heard) {{ heard = true; assert ids[t.who] != {id}, \"first heard\"; }} }}"
        ),
        "eBack, eBorn" => "on eBack do (b: (id: int, who: machine)) { heard = !heard; }".to_owned(),
        _ => String::new(),
    };
    format!(
        "type News = (lead: machine, n: int, who: machine, aide: machine);
event eTell: News;
event eBack: (id: int, who: machine);
event eBorn: (id: int, who: machine);
event eHello: int;
event eTold: (id: int, is_ready: bool);
event eHas: (who: machine, lead: machine);
event eSelf;
event eGo;
event eLast;
machine Main {{
  var known: machine;
  start state S {{
    entry {{
      var all: seq[machine]; var peers: {kind}[machine]; var aide: machine; var hub: machine; var mark: machine;
      var p: machine; var i: int;
      {hub}
      while (i < {n_peers}) {{
        p = new Peer((id = (i + {first}) % {n_peers}, hub = hub, other = {other}));
        if ((i + {first}) % {n_peers} == {id}) {{ mark = p; }}
        {born}
        if ($) {{ all += (0, p); }} else {{ all += (sizeof(all), p); }}
        i = i + 1;
      }}
      {fill}
      {aide}
      // It rests once before it tells: only then may the order be left out.
      send new Lead((peers = peers, aide = aide, hub = hub, waits = false)), eGo;
    }}
    {on_go}
  }}
}}
machine Lead {{
  var peers: {kind}[machine]; var aide: machine; var hub: machine; var n: int; var sum: int; var round: int;
  var waits: bool; var lastOne: machine; var marks: seq[int];
  start state S {{
    entry (p: (peers: {kind}[machine], aide: machine, hub: machine, waits: bool)) {{
      peers = p.peers; aide = p.aide; hub = p.hub;
      marks += (0, 0); marks += (1, 1); marks += (2, 2);
      {also_itself}
      waits = p.waits;
    }}
    on eGo do {{
      if (round == 0 && waits) {{ round = {n_rounds}; Tell(3); }}
      if (round == 0) {{ round = 1; Tell(1); }}
    }}
    on eBack do (b: (id: int, who: machine)) {{
      n = n + 1; sum = (sum * 3 + b.id + 1) % 50;
      assert sum < {limit}, \"sum\";
      if (n == sizeof(peers) && round < {n_rounds}) {{ round = round + 1; n = 0; Tell(round); }}
    }}
    on eTell do {{ {own_tell} }}
    on eHas do (h: (who: machine, lead: machine)) {{ send h.who, eLast; }}
  }}
  fun Tell(k: int) {{
    var i: int; var p: machine; var last: machine;
    {tell}
    {after}
  }}
  fun Note(p: machine) {{ send hub, eHas, (who = p, lead = this); }}
}}
machine Peer {{
  var id: int; var got: int; var hub: machine; var other: machine; var is_late: bool;
  start state S {{
    entry (k: (id: int, hub: machine, other: machine)) {{ id = k.id; hub = k.hub; other = k.other; {hello} }}
    {on_null}
    on eTell do (t: News) {{ Hear(t); goto Quiet; }}
    on eSelf do {{ {on_self} got = (got + 1) % 20; }}
    on eLast do {{ {on_last} }}
  }}
  state Quiet {{
    on eTell do (t: News) {{ Hear(t); }}
    on eSelf do {{ {on_self} got = (got + 1) % 20; }}
    on eLast do {{ {on_last} }}
  }}
  fun Hear(t: News) {{
    {on_tell}
    got = (got * 2 + t.n) % 20;
    if (t.aide != null && id != {id}) {{ send t.aide, eGo; }}
    if (other != null) {{ send other, eSelf; }}
    {answer}
  }}
}}
machine Rogue {{
  var mark: machine;
  start state S {{
    entry (p: machine) {{ mark = p; }}
    on eGo do {{ send mark, eSelf; }}
  }}
}}
machine Hub {{
  var is_any: bool; var is_late: bool;
  start state S {{
    on eHello do (k: int) {{ {on_hello} }}
    on eTold do (t: (id: int, is_ready: bool)) {{ {on_told} }}
    on eHas do (h: (who: machine, lead: machine)) {{ if (!is_any) {{ is_any = true; send h.lead, eHas, h; }} }}
  }}
}}
spec Ear observes {spec} {{
  var ids: map[machine, int]; var heard: bool;
  start state S {{
    on eBorn do (b: (id: int, who: machine)) {{ ids[b.who] = b.id; }}
    {hears}
  }}
}}
test t [main = Main]: {test};
"
    )
}

/// The loop, and what comes after it.
fn tell(random: &mut Random, sight: Sight) -> (String, &'static str) {
    const ALIKE: &str = "eTell, (lead = this, n = k, who = p, aide = aide);";
    let is_counted = match sight {
        Sight::Counter | Sight::Marks | Sight::LaterOrNot | Sight::Later | Sight::Steps => true,
        _ => random.chance(50),
    };
    let body = match sight {
        Sight::Counter => {
            "p = peers[i]; send p, eTell, (lead = this, n = i, who = p, aide = aide);".to_owned()
        }
        Sight::Marks => {
            "p = peers[i]; send p, eTell, (lead = this, n = marks[i], who = p, aide = aide);".to_owned()
        }
        Sight::Previous => {
            "send p, eTell, (lead = this, n = k, who = last, aide = aide); last = p;".to_owned()
        }
        Sight::Last => format!("send p, {ALIKE} last = p;"),
        Sight::LastField => format!("send p, {ALIKE} lastOne = p;"),
        Sight::ThirdParty => "send hub, eHas, (who = p, lead = this);".to_owned(),
        Sight::Call => format!("send p, {ALIKE} Note(p);"),
        Sight::Monitor => format!("send p, {ALIKE}"),
        _ => match random.below(4) {
            0 => format!("last = p; send p, {ALIKE}"),
            1 => format!("send p, {ALIKE} last = p;"),
            2 if is_counted => {
                "send peers[i], eTell, (lead = this, n = k, who = null as machine, aide = aide);".to_owned()
            }
            _ => format!("send p, {ALIKE}"),
        },
    };
    let body = match is_counted {
        true if body.contains("peers[i]") => body,
        true => format!("p = peers[i]; {body}"),
        false => body,
    };
    let start = match sight {
        Sight::LaterOrNot => "if (k < 3) { i = 1; } else { i = 0; }",
        Sight::Later => "i = 1;",
        _ => "i = 0;",
    };
    let step = if sight == Sight::Steps { 2 } else { 1 };
    let text = match is_counted {
        true => format!("{start} while (i < sizeof(peers)) {{ {body} i = i + {step}; }}"),
        false => format!("foreach (p in peers) {{ {body} }}"),
    };
    let after = match sight {
        Sight::Variable => "if (p != null) { send p, eLast; }",
        Sight::Last => "if (last != null) { send last, eLast; }",
        Sight::LastField => "if (lastOne != null) { send lastOne, eLast; }",
        Sight::First => "if (sizeof(peers) > 0) { send peers[0], eLast; }",
        _ => "",
    };
    (text, after)
}

const ALL: &str = "{ Main, Lead, Peer, Rogue, Hub }";

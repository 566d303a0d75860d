//! Random programs in which somebody tells all its peers the same, in a loop. In some the order can be seen: a monitor hears who is
//! told first, somebody else sends to the peers because one of them was told, it is read, or the last one gets more. Peers
//! have numbers, and are put into the collection in any order, so whoever looks at one order only misses something there.

use crate::random::Random;

/// The program of a seed.
pub fn teller(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x007e_11e2);
    let n_peers = if random.chance(70) { 2 } else { 3 };
    let n_rounds = random.between(1, 2);
    let kind = if random.chance(50) { "seq" } else { "set" };
    let fill = match kind {
        "seq" => "peers = all;",
        _ => "foreach (p in all) { peers += (p); }",
    };
    let tell = match random.below(5) {
        0 => "foreach (p in peers) send p, eTell, (lead = this, n = k, who = p, aide = aide);",
        1 => "foreach (p in peers) { send p, eTell, (lead = this, n = k, who = p, aide = aide); last = p; }",
        2 => {
            "while (i < sizeof(peers)) { p = peers[i]; send p, eTell, (lead = this, n = k, who = p, aide = aide); i = i + 1; }"
        }
        3 => {
            "while (i < sizeof(peers)) { p = peers[i]; send p, eTell, (lead = this, n = i, who = p, aide = aide); i = i + 1; }"
        }
        _ => {
            "while (i < sizeof(peers)) { send peers[i], eTell, (lead = this, n = k, who = null as machine, aide = aide); i = i + 1; }"
        }
    };
    // What is left of the loop; what else reads the order.
    let more = match random.below(8) {
        0 => "if (last != null) send last, eLast;",
        1 => "if (p != null) send p, eLast;",
        2 => "if (sizeof(peers) > 0) send peers[0], eLast;",
        _ => "",
    };
    let aide = match random.below(6) {
        0 => "aide = new Rogue(peers);",
        1 => "if ($) { aide = new Rogue(peers); }",
        2 => "if (sizeof(peers) > 9) { aide = new Rogue(peers); }",
        3 => "aide = new Lead((peers = peers, aide = null as machine, waits = true));",
        _ => "",
    };
    let answer = match random.below(4) {
        0 => "",
        1 => "if ($) { send t.lead, eBack, (id = id, who = this); }",
        2 => "send this, eSelf; send t.lead, eBack, (id = id, who = this);",
        _ => "send t.lead, eBack, (id = id, who = this);",
    };
    let id = random.below(n_peers);
    let mut claim = |share: u32, text: String| if random.chance(share) { text } else { String::new() };
    let on_self = claim(60, format!("assert !(id == {id} && got == 0), \"not told yet\";"));
    let on_last = claim(80, format!("assert id != {id}, \"last\";"));
    let on_first = claim(60, format!("assert !(first == b.who && b.id == {id}), \"first\";"));
    let twice = claim(40, format!("assert !(id == {id} && got % 2 == 1), \"told otherwise before\";"));
    let limit = if random.chance(15) { random.between(4, 30) } else { 50 };
    let observed = if random.chance(35) { "eTell, eBack" } else { "eBack" };
    let on_tell = match observed {
        "eBack" => "",
        _ => "on eTell do (t: Told) { if (first == null) { first = t.who; } }",
    };
    let observed_by = if random.chance(70) { format!("assert Ear in {ALL}") } else { ALL.to_owned() };
    format!(
        "type Told = (lead: machine, n: int, who: machine, aide: machine);
event eTell: Told;
event eBack: (id: int, who: machine);
event eSelf;
event eGo;
event eLast;
machine Main {{
  start state S {{
    entry {{
      var all: seq[machine]; var peers: {kind}[machine]; var aide: machine; var p: machine; var i: int;
      while (i < {n_peers}) {{
        if ($) {{ all += (0, new Peer(i)); }} else {{ all += (sizeof(all), new Peer(i)); }}
        i = i + 1;
      }}
      {fill}
      {aide}
      new Lead((peers = peers, aide = aide, waits = false));
    }}
  }}
}}
machine Lead {{
  var peers: {kind}[machine]; var aide: machine; var n: int; var sum: int; var round: int;
  start state S {{
    entry (p: (peers: {kind}[machine], aide: machine, waits: bool)) {{
      peers = p.peers; aide = p.aide;
      if (!p.waits) {{ round = 1; Tell(1); }}
    }}
    on eGo do {{ if (round == 0) {{ round = {n_rounds}; Tell(3); }} }}
    on eBack do (b: (id: int, who: machine)) {{
      n = n + 1; sum = (sum * 3 + b.id + 1) % 50;
      assert sum < {limit}, \"sum\";
      if (n == sizeof(peers) && round < {n_rounds}) {{ round = round + 1; n = 0; Tell(round); }}
    }}
  }}
  fun Tell(k: int) {{
    var i: int; var p: machine; var last: machine;
    i = 0;
    {tell}
    {more}
  }}
}}
machine Peer {{
  var id: int; var got: int;
  start state S {{
    entry (k: int) {{ id = k; }}
    on eTell do (t: Told) {{
      {twice}
      got = (got * 2 + t.n) % 20;
      if (t.aide != null) {{ send t.aide, eGo; }}
      {answer}
    }}
    on eSelf do {{ {on_self} got = (got + 1) % 20; }}
    on eLast do {{ {on_last} }}
  }}
}}
machine Rogue {{
  var peers: {kind}[machine]; var is_done: bool;
  start state S {{
    entry (all: {kind}[machine]) {{ peers = all; }}
    on eGo do {{
      var p: machine;
      if (!is_done) {{ is_done = true; foreach (p in peers) {{ send p, eSelf; }} }}
    }}
  }}
}}
spec Ear observes {observed} {{
  var first: machine;
  start state S {{
    {on_tell}
    on eBack do (b: (id: int, who: machine)) {{ {on_first} }}
  }}
}}
test t [main = Main]: {observed_by};
"
    )
}

const ALL: &str = "{ Main, Lead, Peer, Rogue }";

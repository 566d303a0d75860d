//! Random programs in which somebody tells all its peers the same, in a loop: some let the order be seen, by a monitor, by
//! another who sends to the peers, or by reading it, and some do not.

use std::fmt::Write;

/// A number below `n` for the place `at` of a seed.
fn pick(seed: u64, at: u32, n: u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(at).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 31).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ x >> 29) % n
}

/// The program of a seed.
pub fn teller(seed: u64) -> String {
    let on = |at, n| pick(seed, at, n) == 0;
    let n_peers = 2 + pick(seed, 0, 2);
    let n_rounds = 1 + pick(seed, 1, 2);
    let is_seq = on(2, 2);
    let kind = if is_seq { "seq" } else { "set" };
    let add = match (is_seq, on(3, 2)) {
        (false, _) => "peers += (new Peer());",
        (true, true) => "peers += (0, new Peer());",
        (true, false) => "peers += (sizeof(peers), new Peer());",
    };
    let payload = "(lead = this, n = k)";
    let told = match pick(seed, 4, 4) {
        0 => format!("foreach (p in peers) send p, eTell, {payload};"),
        1 => format!("foreach (p in peers) {{ send p, eTell, {payload}; last = p; }}"),
        _ => format!("while (i < sizeof(peers)) {{ send peers[i], eTell, {payload}; i = i + 1; }}"),
    };
    let last =
        if on(5, 4) { "if (sizeof(peers) > 0) send peers[0], eTell, (lead = this, n = 5);" } else { "" };
    let answer = match pick(seed, 6, 5) {
        0 => "send t.lead, eBack, got;",
        1 => "if ($) send t.lead, eBack, got;",
        2 => "send t.lead, eBack, 0; send t.lead, eBack, got;",
        3 => "if ($) { got = got + 1; } send t.lead, eBack, got;",
        _ => "send this, eSelf; send t.lead, eBack, got;",
    };
    let peer_limit = 3 + pick(seed, 7, 12);
    let lead_limit = 4 + pick(seed, 8, 40);
    let rogue = match pick(seed, 9, 5) {
        0 => "new Rogue(peers);",
        1 => "if ($) new Rogue(peers);",
        2 => "if (sizeof(peers) > 9) new Rogue(peers);",
        _ => "",
    };
    let leads = if on(10, 5) { "new Lead(peers); new Lead(peers);" } else { "new Lead(peers);" };
    let observed = match pick(seed, 11, 4) {
        0 => "eTell",
        1 => "eBack",
        _ => "eSelf",
    };
    let is_read =
        if on(12, 4) { "if (n == 3) assert sizeof(peers) < 9 || peers[0] == peers[1];" } else { "" };
    let mut text = String::new();
    let _ = write!(
        text,
        "event eTell: (lead: machine, n: int); event eBack: int; event eSelf;
machine Main {{ start state Init {{ entry {{
  var peers: {kind}[machine]; var i: int;
  while (i < {n_peers}) {{ {add} i = i + 1; }}
  {leads} {rogue}
}} }} }}
machine Lead {{
  var peers: {kind}[machine]; var n: int; var sum: int; var round: int;
  start state Init {{
    entry (all: {kind}[machine]) {{ peers = all; round = 1; Tell(1); }}
    on eBack do (v: int) {{
      n = n + 1; sum = sum * 2 + v; {is_read}
      assert sum < {lead_limit};
      if (n == sizeof(peers) && round < {n_rounds}) {{ round = round + 1; n = 0; sum = 0; Tell(round); }}
    }}
  }}
  fun Tell(k: int) {{ var i: int; var p: machine; var last: machine; i = 0; {told} {last} if (last == this) n = 0; }}
}}
machine Peer {{
  var got: int;
  start state Init {{
    on eTell do (t: (lead: machine, n: int)) {{ got = got * 2 + t.n; assert got < {peer_limit}; {answer} }}
    on eSelf do {{ got = got + 1; }}
  }}
}}
machine Rogue {{ start state Init {{ entry (all: {kind}[machine]) {{ send all[sizeof(all) - 1], eSelf; }} }} }}
spec Ear observes {observed} {{ var n: int; start state S {{ on {observed} do {{ n = n + 1; assert n < 8; }} }} }}
test t [main = Main]: assert Ear in {{ Main, Lead, Peer, Rogue }};
"
    );
    text
}

//! Texts of machines on random programs: what the kernel sees is what P gives, and a proof is given only where no run depends
//! on such a text.

use std::sync::Arc;

use allways_explore::Never;
use allways_explore::search::{ProveOptions, prove};
use allways_machine::Executable;
use allways_run::{Quiet, Verdict};
use allways_testkit::Loaded;
use allways_testkit::differential::{Comparison, compare};
use allways_testkit::oracle::{self, OracleOptions};
use allways_testkit::random::Random;

const N_PROGRAMS: u64 = 300;

/// Two workers, of which one makes another, do things with texts. `observes` allows what depends on their letters.
fn program(random: &mut Random, observes: bool) -> String {
    let mut workers = String::new();
    for kind in ["First", "Second"] {
        let mut body = String::new();
        for _ in 0..2 + random.below(5) {
            body.push_str("      ");
            body.push_str(&statement(random, observes));
            body.push('\n');
        }
        let handler = if random.chance(50) { "text = t;" } else { "thing = t;" };
        let after = without_creation(random, observes);
        workers.push_str(&format!(
            "machine {kind} {{
  var text: string; var thing: any; var names: set[string]; var numbers: map[string, int]; var all: seq[string];
  start state S {{
    entry (peer: machine) {{
{body}    }}
    on eText do (t: string) {{ var peer: machine; {handler} {after} }}
    on eThing do (t: any) {{ var peer: machine; thing = t; {after} }}
  }}
}}
"
        ));
    }
    let leaf = without_creation(random, false);
    format!(
        "event eText: string; event eThing: any;
fun Id(t: string): string {{ return t; }}
machine Main {{
  start state S {{
    entry {{ var m: machine; m = new First(this); new Second(m); }}
    ignore eText, eThing;
  }}
}}
machine Leaf {{
  var text: string; var thing: any; var all: seq[string]; var names: set[string]; var numbers: map[string, int];
  start state S {{ entry (peer: machine) {{ {leaf} }} ignore eText, eThing; }}
}}
{workers}"
    )
}

/// One that does not make the program endless.
fn without_creation(random: &mut Random, observes: bool) -> String {
    loop {
        let statement = statement(random, observes);
        if !statement.contains("new") {
            return statement;
        }
    }
}

fn statement(random: &mut Random, observes: bool) -> String {
    let names = ["First(2)", "Second(3)", "Leaf(3)", "Leaf(4)", "Main(1)", "<First(2),1,>"];
    let mut name = || *random.pick(&names);
    let (name, other) = (name(), name());
    let neutral = 13;
    let n = random.below(if observes { neutral + 9 } else { neutral });
    match n {
        0 | 1 => "text = format(\"{0}\", this);".to_owned(),
        2 => "text = format(\"{0}\", (peer, 1));".to_owned(),
        3 => "text = format(\"{0}\", peer);".to_owned(),
        4 => format!("text = \"{other}\";"),
        5 => "thing = text;".to_owned(),
        6 => "if (peer != null) { send peer, eText, text; }".to_owned(),
        7 => "if (peer != null) { send peer, eThing, thing; }".to_owned(),
        8 => "text = Id(text);".to_owned(),
        9 => "all += (0, text); print text;".to_owned(),
        10 | 11 => "peer = new Leaf(this);".to_owned(),
        12 => "assert sizeof(all) < 2, text;".to_owned(),
        13 => format!("assert text != \"{name}\";"),
        14 => format!("assert thing != \"{name}\";"),
        15 => format!("names += (text); names += (\"{name}\"); assert sizeof(names) == 2;"),
        16 => format!("numbers[text] = 1; assert !(\"{name}\" in numbers);"),
        17 => format!("numbers += (text, 1); numbers += (\"{name}\", 2);"),
        18 => format!("assert text < \"{name}\" || text > \"M\";"),
        19 => format!("assert !(\"{name}\" in all);"),
        20 => format!("if (\"{name}\" == text) {{ thing = 1; }}"),
        _ => "thing = (text, 1); assert thing != (\"First(2)\", 1);".to_owned(),
    }
}

#[test]
fn texts_are_those_of_p() {
    let options = OracleOptions { max_configurations: 2_000, ..OracleOptions::default() };
    let (mut n_observing, mut n_violated, mut n_proved) = (0, 0, 0);
    for seed in 0..N_PROGRAMS {
        let mut random = Random::new(seed);
        let text = program(&mut random, seed % 3 != 0);
        let loaded = Loaded::new("texts.p", &text).unwrap_or_else(|messages| panic!("{messages}\n{text}"));
        let compared = compare(&loaded, 0, options);
        if let Comparison::Differ(difference) = &compared.comparison {
            panic!("seed {seed}: {difference}\n{text}");
        }
        let exe = Arc::new(Executable::new(&loaded.program, 0));
        // Whatever the analysis thinks: with P's own texts.
        let exact = oracle::explore(&loaded.program, 0, OracleOptions { exact_texts: true, ..options });
        if exact.bound_hit {
            continue;
        }
        n_observing += u64::from(exe.observed_text.is_some());
        n_violated += u64::from(exact.is_violated());
        let found = prove(&exe, &ProveOptions::default(), &Quiet, &Never).expect("replays");
        match found.verdict {
            Verdict::Holds(_) => {
                n_proved += 1;
                assert!(!exact.is_violated(), "seed {seed}: {:?}\n{text}", exact.violations);
            }
            Verdict::Violated(_) => assert!(exact.is_violated(), "seed {seed}\n{text}"),
            Verdict::Unknown(_) => assert!(exe.observed_text.is_some(), "seed {seed}\n{text}"),
        }
    }
    assert!(n_observing > 100 && n_violated > 25 && n_proved > 80, "{n_observing} {n_violated} {n_proved}");
}

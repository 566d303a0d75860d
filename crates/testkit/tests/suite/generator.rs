//! Random programs compile, are what their seed says, and use what the language has.

use allways_testkit::Loaded;
use allways_testkit::generate::broadcasts::broadcasts;
use allways_testkit::generate::generate_any;
use allways_testkit::generate::ledger::ledger;
use allways_testkit::generate::liveness_cycles::liveness_cycles;

#[test]
fn programs_compile() {
    let mut problems = Vec::new();
    for seed in 0..2_000 {
        let (text, profile) = generate_any(seed);
        if let Err(messages) = Loaded::new("random.p", &text) {
            problems.push(format!("seed {seed} ({}): {messages}\n{text}", profile.name));
        }
    }
    for (name, program) in [
        ("ledger", ledger as fn(u64) -> String),
        ("broadcasts", broadcasts),
        ("liveness-cycles", liveness_cycles),
    ] {
        for seed in 0..1_000 {
            let text = program(seed);
            if let Err(messages) = Loaded::new("random.p", &text) {
                problems.push(format!("seed {seed} ({name}): {messages}\n{text}"));
            }
        }
    }
    let firsts: Vec<&str> = problems.iter().filter_map(|problem| problem.lines().next()).take(20).collect();
    assert!(problems.is_empty(), "{} of 5000\n{}\n{}", problems.len(), firsts.join("\n"), problems[0]);
}

#[test]
fn a_seed_names_a_program() {
    for seed in 0..50 {
        assert_eq!(generate_any(seed).0, generate_any(seed).0);
    }
    assert_ne!(generate_any(1).0, generate_any(9).0);
}

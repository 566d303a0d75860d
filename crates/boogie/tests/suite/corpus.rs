//! The corpus of programs, each with what to expect of it in the comments at its head:
//!
//! ```text
//! // diagnostics: boogie-arity@3, boogie-unknown-name@5     all of them, with their lines
//! // ints: 0..2                                             candidates for integers
//! // preemption: automatic                                  else explicit
//! // explore: dfw(1) exit fails                             under a scheduler, in a mode
//! // check: dfw(1) recursion(2) exit fails                  the same, for the bounded verifier alone
//! ```
//!
//! A file without `diagnostics` has none. Schedulers are `concurrent`, `df(K)`, `dfw(K)` and
//! `child-first(R)`; verdicts are `holds` and `fails`.
//!
//! These are the folders `accepted`, `async`, `concrete` and `static-error`; the others are for the
//! bounded verifier. All files, damaged at random, are food for the parser and everything behind it.

use std::fs;
use std::path::{Path, PathBuf};

use allways_base::diagnostic::has_errors;
use allways_base::{FileId, Sources};
use allways_boogie::interp::oracle::concurrent_schedule;
use allways_boogie::interp::{
    Assertions, Domains, Ending, ExploreOptions, First, Limit, Preemption, Random, Replay, RunOptions,
    Scheduler, explore, lower, run,
};
use allways_boogie::{analyze, check, entry_point, parse, print};

fn corpus() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/boogie");
    let mut files = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the corpus") {
            let path = entry.expect("an entry of the corpus").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "bpl") {
                let text = fs::read_to_string(&path).expect("a readable file");
                files.push((path, text));
            }
        }
    }
    files.sort();
    assert!(files.len() >= 30, "the corpus is missing");
    files
}

/// The lines `// key: value` at the head of a file.
fn header<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    text.lines()
        .take_while(|line| line.starts_with("//"))
        .filter_map(|line| line.trim_start_matches("//").trim().split_once(':'))
        .filter(|(found, _)| found.trim() == key)
        .map(|(_, value)| value.trim())
        .collect()
}

fn scheduler(text: &str) -> Scheduler {
    let (name, number) = match text.split_once('(') {
        Some((name, rest)) => (name, rest.trim_end_matches(')').parse().expect("a number")),
        None => (text, 0),
    };
    match name {
        "concurrent" => Scheduler::Concurrent,
        "df" => Scheduler::Df { delays: number },
        "dfw" => Scheduler::Dfw { delays: number },
        "child-first" => Scheduler::ChildFirst { rounds: number },
        _ => panic!("no scheduler {text}"),
    }
}

#[test]
fn expectations_of_the_corpus_hold() {
    let folders = ["accepted", "async", "concrete", "static-error"];
    let is_ours = |path: &Path| {
        path.parent().and_then(Path::file_name).is_some_and(|f| folders.iter().any(|&folder| f == folder))
    };
    for (path, text) in corpus().into_iter().filter(|(path, _)| is_ours(path)) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut sources = Sources::default();
        sources.add(name.clone(), text.clone());
        let (checked, found) = analyze(FileId::from_u32(0), &text);
        let mut shown: Vec<String> = found
            .iter()
            .map(|d| {
                let line = d.primary.as_ref().map_or(0, |label| sources.line_col(label.span).line);
                format!("{}@{line}", d.code)
            })
            .collect();
        shown.sort();
        let mut wanted: Vec<String> = header(&text, "diagnostics")
            .iter()
            .flat_map(|list| list.split(','))
            .map(|part| part.trim().to_owned())
            .collect();
        wanted.sort();
        assert_eq!(shown, wanted, "{name}: {found:#?}");

        let explorations = header(&text, "explore");
        if explorations.is_empty() {
            continue;
        }
        let checked = checked.unwrap_or_else(|| panic!("{name} does not check"));
        let entry = entry_point(&checked.program, None).unwrap_or_else(|d| panic!("{name}: {d:?}"));
        let preemption = match header(&text, "preemption").first() {
            Some(&"automatic") => Preemption::Automatic,
            Some(&"serial") => Preemption::Serial,
            _ => Preemption::Explicit,
        };
        let code = lower(checked, entry, preemption).unwrap_or_else(|limit| panic!("{name}: {limit}"));
        let ints = header(&text, "ints").first().map_or((0, 1), |range| {
            let (low, high) = range.split_once("..").expect("a range");
            (low.parse().expect("a number"), high.parse().expect("a number"))
        });
        let domains = Domains { ints, closed: true, ..Domains::default() };
        for line in explorations {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [scheduler_text, mode, verdict] = words[..] else { panic!("{name}: {line}") };
            let scheduler = scheduler(scheduler_text);
            let assertions = match mode {
                "exit" => Assertions::Exit,
                "continue" => Assertions::Continue,
                _ => panic!("{name}: {line}"),
            };
            let options = ExploreOptions {
                scheduler,
                assertions,
                domains: domains.clone(),
                stop_at_violation: true,
                ..ExploreOptions::default()
            };
            let found = explore(&code, &options);
            let fails = found.violation.is_some();
            assert_eq!(fails, verdict == "fails", "{name}: {line}, limit {:?}", found.limit);
            assert!(fails || found.complete, "{name}: {line} is not complete: {:?}", found.limit);
            if let Some((failure, schedule)) = &found.violation {
                let options =
                    RunOptions { scheduler, assertions, domains: domains.clone(), ..RunOptions::default() };
                let again = run(&code, &options, &mut Replay::new(schedule));
                assert_eq!(again.ending, Ending::Failed(failure.clone()), "{name}: {line}");
                // Delays are the scheduler's business: without them it is a concurrent run.
                let options = RunOptions {
                    scheduler: Scheduler::Concurrent,
                    posts_are_points: scheduler.stops_after_post(),
                    ..options
                };
                let concurrent = concurrent_schedule(schedule);
                let same = run(&code, &options, &mut Replay::new(&concurrent));
                // A task that the scheduler abandoned is not completed in the concurrent run.
                let abandoned = scheduler.stops_after_post() && assertions == Assertions::Continue;
                assert!(abandoned || same.ending == again.ending, "{name}: {line}");
            }
        }
    }
}

#[test]
fn printing_is_a_fixed_point_on_the_corpus() {
    for (path, text) in corpus() {
        let parsed = parse(FileId::from_u32(0), &text);
        if has_errors(&parsed.diagnostics) {
            continue;
        }
        let once = print(&parsed.program);
        let again = parse(FileId::from_u32(0), &once);
        assert!(!has_errors(&again.diagnostics), "{}\n{once}\n{:#?}", path.display(), again.diagnostics);
        assert_eq!(print(&again.program), once, "{}", path.display());
        // Checking the printed text finds the same things wrong.
        let codes = |program| -> Vec<&str> { check(program).1.iter().map(|d| d.code.as_str()).collect() };
        let (mut before, mut after) = (codes(parsed.program), codes(again.program));
        before.sort_unstable();
        after.sort_unstable();
        assert_eq!(before, after, "{}", path.display());
    }
}

/// Puts a text through everything, whatever it is.
fn digest(text: &str) {
    let parsed = parse(FileId::from_u32(0), text);
    for diagnostic in &parsed.diagnostics {
        if let Some(label) = &diagnostic.primary {
            assert!(label.span.end as usize <= text.len());
        }
    }
    if !has_errors(&parsed.diagnostics) {
        let once = print(&parsed.program);
        let again = parse(FileId::from_u32(0), &once);
        assert!(!has_errors(&again.diagnostics), "{text}\n---\n{once}\n{:#?}", again.diagnostics);
        assert_eq!(print(&again.program), once);
    }
    let (Some(checked), _) = analyze(FileId::from_u32(0), text) else { return };
    let Ok(entry) = entry_point(&checked.program, None) else { return };
    let Ok(code) = lower(checked, entry, Preemption::Automatic) else { return };
    let domains = Domains { max_values: 64, ..Domains::default() };
    let options = RunOptions { max_steps: 300, domains, ..RunOptions::default() };
    let recorded = run(&code, &options, &mut First);
    let again = run(&code, &options, &mut Replay::new(&recorded.schedule));
    // A question with too many candidates has no answer in the schedule.
    let is_cut = recorded.ending == Ending::Limit(Limit::Candidates);
    assert_eq!(again.ending, if is_cut { Ending::Limit(Limit::Schedule) } else { recorded.ending });
    run(&code, &options, &mut Random::new(text.len() as u64));
}

#[test]
fn damaged_programs_never_panic() {
    let files = corpus();
    let mut random = Random::new(7);
    let pieces = [
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        ":",
        ":=",
        "::",
        "==>",
        "<==",
        "&&",
        "||",
        "call",
        "async",
        "{:",
        "var",
        "procedure",
        "if",
        "else",
        "while",
        "forall",
        "x",
        "0",
        "5bv3",
        "\"",
        "/*",
        "*",
        "<",
        ">",
        "old",
        "\\",
        "λ",
        "∀",
        "1e5",
        "->",
        "|{",
        "type",
        "returns",
        "yield;",
        "break",
        "goto a;",
        "a:",
    ];
    for round in 0..4 {
        for (_, text) in &files {
            let mut words: Vec<String> =
                text.split_inclusive([' ', '\n', '(', ';']).map(str::to_owned).collect();
            for _ in 0..=round {
                let at = random.below(words.len());
                match random.below(5) {
                    0 => words[at] = format!("{} ", pieces[random.below(pieces.len())]),
                    1 => words[at].clear(),
                    2 => {
                        let other = random.below(words.len());
                        words.swap(at, other);
                    }
                    3 => {
                        let copy = words[at].clone();
                        words.insert(random.below(words.len()), copy);
                    }
                    _ => {
                        let piece = format!(" {} ", pieces[random.below(pieces.len())]);
                        words.insert(at, piece);
                    }
                }
            }
            digest(&words.concat());
            // And once with bytes cut, doubled and flipped.
            let mut bytes = text.clone().into_bytes();
            for _ in 0..=round {
                let at = random.below(bytes.len());
                match random.below(3) {
                    0 => drop(bytes.remove(at)),
                    1 => bytes.insert(at, bytes[at]),
                    _ => bytes[at] ^= 1 << random.below(7),
                }
            }
            digest(&String::from_utf8_lossy(&bytes));
        }
    }
}

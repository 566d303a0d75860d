//! Whatever the text, front end and translation answer: no panic, and what they write is a program again.
//!
//! A bounded and deterministic run of mutations of the corpus; `ALLWAYS_MUTATIONS=N` in the environment makes it
//! longer, `ALLWAYS_SEED=S` takes others.

use std::path::Path;

use allways_base::FileId;
use allways_boogie::interp::Random;
use allways_boogie::{analyze, entry_point, parse, print};
use allways_sequentialize::{Assertions, Options, Preemption, Scheduler, sequentialize};

const WORDS: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ":",
    "::",
    ":=",
    "==",
    "!=",
    "<:",
    "==>",
    "<==>",
    "&&",
    "||",
    "!",
    "-",
    "+",
    "*",
    "**",
    "/",
    "div",
    "mod",
    "++",
    "{:",
    "0",
    "1",
    "5bv32",
    "1.5e3",
    "bv32",
    "int",
    "bool",
    "real",
    "x",
    "i",
    "g",
    "p",
    "t",
    "main",
    "type",
    "const",
    "unique",
    "function",
    "axiom",
    "var",
    "where",
    "procedure",
    "implementation",
    "returns",
    "requires",
    "ensures",
    "modifies",
    "free",
    "assert",
    "assume",
    "havoc",
    "call",
    "async",
    "yield",
    "if",
    "else",
    "then",
    "while",
    "invariant",
    "break",
    "goto",
    "return",
    "forall",
    "exists",
    "lambda",
    "old",
    "true",
    "false",
    "{:async}",
    "{:async t}",
    "{:wait t}",
    "{:wait x, t}",
    "{:waitall}",
    "{:yield 1, 2}",
    "{:thread_local}",
    "{:entrypoint}",
    "task",
    "call corral_atomic_begin();",
    "async call p();",
    "assume {:yield} true;",
    "/*",
    "//",
    "\"",
    "'",
    "\\",
    "é",
    "\u{2200}",
];

fn corpus() -> Vec<String> {
    let mut texts = Vec::new();
    let mut work = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/boogie")];
    while let Some(path) = work.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("the corpus is there");
            work.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
        } else if path.extension() == Some(Path::new("bpl").as_os_str()) {
            texts.push((path.clone(), std::fs::read_to_string(&path).expect("corpus files are text")));
        }
    }
    texts.sort();
    texts.into_iter().map(|(_, text)| text).collect()
}

/// Places where tokens begin, more or less.
fn cuts(text: &str) -> Vec<usize> {
    let mut cuts = vec![0];
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if !(c.is_alphanumeric() && before.is_alphanumeric()) && c != ' ' {
            cuts.push(at);
        }
        before = c;
    }
    cuts.push(text.len());
    cuts
}

fn mutate(random: &mut Random, texts: &[String]) -> String {
    let mut text = texts[random.below(texts.len())].clone();
    for _ in 0..1 + random.below(4) {
        let cuts = cuts(&text);
        let pick = |random: &mut Random| cuts[random.below(cuts.len())];
        let at = pick(random);
        // Near each other: most of the program stays as it was.
        let position = cuts.iter().position(|&cut| cut == at).unwrap_or(0);
        let end = cuts[(position + 1 + random.below(6)).min(cuts.len() - 1)].max(at);
        match random.below(6) {
            0 => text.replace_range(at..end, ""),
            1 => text.insert_str(at, &format!(" {} ", WORDS[random.below(WORDS.len())])),
            2 => text.replace_range(at..end, &format!(" {} ", WORDS[random.below(WORDS.len())])),
            3 => {
                let piece = text[at..end].to_owned();
                text.insert_str(pick(random), &piece);
            }
            4 => {
                let other = &texts[random.below(texts.len())];
                let lines: Vec<&str> = other.lines().collect();
                let line = lines.get(random.below(lines.len().max(1))).copied().unwrap_or_default();
                text.insert_str(at, &format!("\n{line}\n"));
            }
            _ => {
                let line_end = text[at..].find('\n').map_or(text.len(), |offset| at + offset);
                text.replace_range(at..line_end, "");
            }
        }
    }
    text
}

/// Parser, printer, checker and translations on a text. Returns how many programs were translated.
fn answer(text: &str, pick: usize) -> usize {
    let file = FileId::from_u32(0);
    let parsed = parse(file, text);
    for diagnostic in &parsed.diagnostics {
        for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
            let range = label.span.start as usize..label.span.end as usize;
            assert!(text.get(range).is_some(), "{diagnostic:?} is not in the text\n{text}");
        }
    }
    if parsed.diagnostics.iter().all(|d| !d.is_error()) {
        let once = print(&parsed.program);
        let again = parse(file, &once);
        assert!(
            again.diagnostics.iter().all(|d| !d.is_error()),
            "printed, it is wrong: {:?}\n{text}\n{once}",
            again.diagnostics
        );
        assert_eq!(print(&again.program), once, "{text}");
    }
    let (Some(checked), _) = analyze(file, text) else { return 0 };
    let Ok(entry) = entry_point(&checked.program, None) else { return 0 };
    let scheduler = [
        Scheduler::Dfw { delays: 1 },
        Scheduler::Df { delays: 2 },
        Scheduler::Dfw { delays: 0 },
        Scheduler::Df { delays: 0 },
        Scheduler::ChildFirst { rounds: 2 },
        Scheduler::Rounds { rounds: 2 },
    ][pick % 6];
    let assertions = [Assertions::Exit, Assertions::Continue][pick / 6 % 2];
    let preemption = [Preemption::Explicit, Preemption::Automatic, Preemption::Serial][pick / 12 % 3];
    let options = Options { scheduler, assertions, preemption, sources: None };
    let Ok(done) = sequentialize(&checked, entry, &options) else { return 0 };
    let printed = print(&done.program);
    let (accepted, diagnostics) = analyze(file, &printed);
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.is_error()).map(|d| &d.message).collect();
    assert!(
        accepted.is_some(),
        "{scheduler:?} {assertions:?} {preemption:?}: translated, it is wrong: {errors:?}\n{text}\n{printed}"
    );
    1
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn corpus_programs_are_translated_to_programs() {
    let mut n = 0;
    for text in corpus() {
        for pick in 0..36 {
            n += answer(&text, pick);
        }
    }
    assert!(n > 1_000, "only {n} were translated");
}

#[test]
fn contracts_do_not_see_locals() {
    let text = "procedure main() free requires x > 0; { var x: int; assert x > 0; }";
    let (checked, diagnostics) = analyze(FileId::from_u32(0), text);
    assert!(checked.is_none() && diagnostics.iter().any(|d| d.message.contains("`x`")), "{diagnostics:?}");
}

#[test]
fn what_is_built_in_cannot_be_posted() {
    let text =
        "var g: int; procedure main() { g := 1; call {:async} boogie_si_record_int(g); assert g == 1; }";
    for pick in 0..36 {
        assert_eq!(answer(text, pick), 0);
    }
}

#[test]
fn mutations() {
    let texts = corpus();
    let mut random = Random::new(number("ALLWAYS_SEED", 1));
    let mut n_translated = 0;
    for _ in 0..number("ALLWAYS_MUTATIONS", 4_000) {
        let text = mutate(&mut random, &texts);
        let pick = random.below(36);
        let outcome = std::panic::catch_unwind(|| answer(&text, pick));
        match outcome {
            Ok(n) => n_translated += n,
            Err(_) => panic!("choice {pick} of this text:\n{text}"),
        }
    }
    assert!(n_translated > 100, "only {n_translated} were translated");
}

//! Whatever the bytes, the front end answers: no panic, no overflow of the stack, no run without end.
//!
//! A bounded and deterministic run of mutations of the corpus stands for all bad input that people and tools produce;
//! `ALLWAYS_MUTATIONS=N` in the environment makes it longer. The adversarial inputs below it are the shapes that
//! break parsers: deep, long, wide, or quadratic where they should be linear. Test threads have the small stack that
//! threads have by default, so an unbounded recursion shows here.

use crate::support::{cases, check_places, compile_files, compile_text};
use allways_p::{Dialect, FileRole};

/// Marsaglia's xorshift64*: small, good enough to pick mutations, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next() >> 33) as usize % n }
    }

    fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }
}

/// Tokens that make sense almost nowhere, or almost everywhere.
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
    ".",
    "=",
    "==",
    "+=",
    "-=",
    "->",
    "==>",
    "<==>",
    "$",
    "$$",
    "-",
    "!",
    "/*",
    "//",
    "\"",
    "'",
    "@",
    "0",
    "1.5",
    "2147483648",
    "x",
    "S",
    "Main",
    "E",
    "machine",
    "spec",
    "state",
    "start",
    "event",
    "type",
    "enum",
    "fun",
    "var",
    "entry",
    "on",
    "do",
    "goto",
    "with",
    "defer",
    "ignore",
    "null",
    "halt",
    "this",
    "send",
    "raise",
    "receive",
    "case",
    "if",
    "else",
    "while",
    "foreach",
    "in",
    "as",
    "to",
    "new",
    "return",
    "break",
    "seq",
    "map",
    "int",
    "any",
    "format",
    "choose",
    "default",
    "test",
    "param",
    "pairwise",
    "wise",
    "assume",
    "module",
    "union",
    "main",
    "invariant",
    "forall",
    "is",
    "Proof",
    "{0}",
    "\\",
    "\u{feff}",
    "é",
    "\0",
];

/// Where words, numbers and single characters begin and end.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let len =
            if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, tail) = rest.split_at(len);
        tokens.push(token);
        rest = tail;
    }
    tokens
}

fn mutate(random: &mut Random, texts: &[String]) -> String {
    let text = random.pick(texts);
    if random.below(8) == 0 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=random.below(4) {
            let (at, bit) = (random.below(bytes.len()), random.below(8));
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << bit;
            }
        }
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let mut parts: Vec<&str> = tokens(text);
    for _ in 0..=random.below(4) {
        let at = random.below(parts.len());
        match random.below(7) {
            0 if !parts.is_empty() => drop(parts.remove(at)),
            1 if !parts.is_empty() => parts.insert(at, parts[at]),
            2 if !parts.is_empty() => {
                let other = random.below(parts.len());
                parts.swap(at, other);
            }
            3 => parts.insert(at, WORDS[random.below(WORDS.len())]),
            4 => parts.truncate(at),
            5 => {
                // The beginning of one file and the end of another.
                let other = tokens(random.pick::<String>(texts));
                let from = random.below(other.len());
                parts.truncate(at);
                parts.extend(&other[from..]);
            }
            _ => {
                let (len, to) = (random.below(12).min(parts.len() - at), random.below(parts.len()));
                let moved: Vec<&str> = parts.drain(at..at + len).collect();
                let to = to.min(parts.len());
                parts.splice(to..to, moved);
            }
        }
    }
    parts.concat()
}

fn corpus_texts() -> Vec<String> {
    let mut texts = Vec::new();
    for folder in ["static/ok", "static/error", "static/warning", "regress"] {
        texts.extend(cases(folder).into_iter().flat_map(|case| case.files).map(|file| file.text));
    }
    texts
}

#[test]
fn mutations_of_the_corpus_are_answered() {
    let n_mutations = std::env::var("ALLWAYS_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let seed = std::env::var("ALLWAYS_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1u64);
    let texts = corpus_texts();
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for i in 0..n_mutations {
        let dialect = Dialect { strict: i % 5 == 0, verifier: i % 7 == 0 };
        // Now and then a program of several files, one of them in a special role.
        let mut files = vec![(mutate(&mut random, &texts), FileRole::Source)];
        if i % 6 == 0 {
            let role = *random.pick(&[FileRole::Source, FileRole::Included, FileRole::ForeignBodies]);
            files.push((mutate(&mut random, &texts), role));
        }
        let answer = std::panic::catch_unwind(|| {
            let (sources, compiled) = compile_files(&files, dialect);
            check_places(&sources, &compiled.diagnostics);
            let has_errors = allways_base::diagnostic::has_errors(&compiled.diagnostics);
            assert_eq!(compiled.program.is_none(), has_errors, "a program exactly when there is no error");
        });
        assert!(answer.is_ok(), "mutation {i} of seed {seed} fails:\n{files:#?}");
    }
}

/// Every file that once was a finding of a fuzzer.
#[test]
fn findings_stay_fixed() {
    for case in cases("regress") {
        let (sources, compiled) = case.compile();
        check_places(&sources, &compiled.diagnostics);
    }
}

// Adversarial inputs. What they report matters less than that they do, and how much.

/// Compiles, and expects at least one error but no flood of them.
fn rejected(text: &str) -> Vec<String> {
    let (sources, compiled) = compile_text(text, Dialect::default());
    check_places(&sources, &compiled.diagnostics);
    let codes: Vec<String> = compiled.diagnostics.iter().map(|d| d.code.to_string()).collect();
    assert!(compiled.program.is_none(), "accepted");
    assert!(codes.len() <= 4000, "{} diagnostics", codes.len());
    for diagnostic in &compiled.diagnostics {
        assert!(diagnostic.message.len() < 2000, "a message of {} bytes", diagnostic.message.len());
    }
    codes
}

fn accepted(text: &str) {
    let (_, compiled) = compile_text(text, Dialect::default());
    let first = compiled.diagnostics.iter().find(|d| d.is_error());
    assert!(compiled.program.is_some(), "rejected: {first:?}");
}

fn in_entry(statement: &str) -> String {
    format!("machine Main {{ var x: int; var b: bool; start state S {{ entry {{ {statement} }} }} }}")
}

#[test]
fn deep_expressions() {
    const N: usize = 100_000;
    for (open, close) in
        [("(", ")"), ("-", ""), ("!", ""), ("x[", "]"), ("F(", ")"), ("(1,", ")"), ("(a=", ",)")]
    {
        let text = in_entry(&format!("x = {}1{};", open.repeat(N), close.repeat(N)));
        assert_eq!(rejected(&text), ["nested-too-deep"], "{open}");
        // Without the closing half.
        assert!(rejected(&in_entry(&format!("x = {}", open.repeat(N)))).len() <= 3, "{open}");
        rejected(&open.repeat(N));
        rejected(&format!("machine Main {{ var x: {}", open.repeat(N)));
    }
    rejected(&in_entry(&format!("x = 1{};", ")".repeat(N))));
    rejected(&in_entry(&format!("x = {}1;", "sizeof(keys(values(choose(".repeat(N))));
}

#[test]
fn deep_blocks() {
    const N: usize = 100_000;
    for open in [
        "{",
        "if (b) ",
        "while (b) ",
        "foreach (x in s) ",
        "if (b) {",
        "receive { case E: {",
        "receive { case E: (x: ",
    ] {
        let text = in_entry(&open.repeat(N));
        assert!(rejected(&text).len() <= 3, "{open}: {:?}", rejected(&text).len());
        let closed = in_entry(&format!("{}{}", open.repeat(N), "}".repeat(N * open.matches('{').count())));
        rejected(&closed);
    }
    for text in [
        "{",
        "}",
        "[",
        "]",
        "machine M {",
        "start state S {",
        "machine M { start state S { entry {",
        "enum E {",
        "eventset E = {",
    ] {
        rejected(&text.repeat(N));
    }
    rejected(&format!("machine Main {{ {}", "start state S { ".repeat(N)));
    rejected(&format!("machine Main {{ {}", "state S { fun F() { ".repeat(N)));
}

#[test]
fn deep_types_and_modules() {
    const N: usize = 100_000;
    for open in ["seq[", "(", "map[int, ", "(a: "] {
        assert_eq!(rejected(&format!("type T = {}int;", open.repeat(N))), ["nested-too-deep"], "{open}");
        rejected(&in_entry(&format!("x = default({}", open.repeat(N))));
        rejected(&in_entry(&format!("x = y as {}", open.repeat(N))));
    }
    for open in ["(", "union ", "(union { A }, ", "main M in ", "assert M in ", "rename A to B in "] {
        rejected(&format!("module M = {}", open.repeat(N)));
    }
    for open in ["forall (x: int) :: ", "inflight ", "sent ", "-", "(", "x targets "] {
        rejected(&format!("invariant i: {}", open.repeat(N)));
    }
}

#[test]
fn long_chains() {
    let sum = vec!["1"; 100_000].join(" + ");
    assert_eq!(rejected(&in_entry(&format!("x = {sum};"))), ["nested-too-deep"]);
    let fields = format!("x = x{};", ".a".repeat(100_000));
    assert_eq!(rejected(&in_entry(&fields)), ["nested-too-deep"]);
    let casts = format!("x = x{};", " as int".repeat(100_000));
    assert_eq!(rejected(&in_entry(&casts)), ["nested-too-deep"]);
    accepted(&in_entry(&format!("x = {};", vec!["1"; 400].join(" + "))));
    accepted(&in_entry(&format!("if (b) {{ }} {} else {{ }}", "else if (b) { }".repeat(50_000))));
    accepted(&in_entry(&"x = 1; ".repeat(50_000)));
    accepted(&in_entry(&";".repeat(100_000)));
    accepted(&in_entry(&format!("print \"{}\";", "{{".repeat(100_000))));
    rejected(&in_entry(&format!("print \"{}\";", "{ ".repeat(100_000))));
    rejected(&in_entry(&format!("print \"{}\";", "\\q".repeat(100_000))));
    rejected(&in_entry("x = 1 2; ").repeat(10_000));
    let functions: String = (0..20_000).map(|i| format!("fun F{i}() {{ F{}(); }} ", i + 1)).collect();
    accepted(&format!("{functions} event E; fun F20000() {{ raise E; }}"));
}

#[test]
fn chains_of_types() {
    const N: usize = 100_000;
    let names: String = (0..N).map(|i| format!("type T{i} = T{}; ", i + 1)).collect();
    accepted(&format!(
        "{names} type T{N} = int; machine Main {{ var x: T0; start state S {{ entry {{ x = 1; }} }} }}"
    ));
    assert_eq!(rejected(&format!("{names} type T{N} = T0;")), ["circular-type"]);
    let nested: String = (0..N).map(|i| format!("type T{i} = seq[T{}]; ", i + 1)).collect();
    rejected(&format!("{nested} type T{N} = int;"));
    let doubled: String = (0..100).map(|i| format!("type T{i} = (T{0}, T{0}); ", i + 1)).collect();
    rejected(&format!("{doubled} type T100 = int; fun F(a: T0, b: T90): bool {{ return a == b; }}"));
    // Small enough to be written out, used against itself many times.
    let pairs: String = (0..12).map(|i| format!("type T{i} = (T{0}, T{0}); ", i + 1)).collect();
    let uses = "a = b; ".repeat(1000);
    accepted(&format!("{pairs} type T12 = int; fun F(a: T0) {{ var b: T0; {uses} }}"));
}

#[test]
fn long_tokens() {
    let name = "n".repeat(1_000_000);
    accepted(&format!("event {name}; machine Main {{ start state S {{ ignore {name}; }} }}"));
    rejected(&format!("machine Main {{ var {name}: int; start state S {{ entry {{ {name}x = 1; }} }} }}"));
    rejected(&format!(
        "type {name}; machine Main {{ var x: {name}; start state S {{ entry {{ {} }} }} }}",
        "x = 1; ".repeat(5000)
    ));
    rejected(&in_entry(&format!("x = {};", "9".repeat(1_000_000))));
    accepted(&in_entry(&format!("print \"{}\";", "s".repeat(1_000_000))));
    rejected(&format!("\"{}", "\\".repeat(1_000_000)));
    rejected(&"\"".repeat(1_000_001));
    rejected(&"\"\n".repeat(100_001));
    rejected(&"/*".repeat(1_000_000));
    rejected(&"/* */ /*".repeat(100_000));
    accepted(&"/* */".repeat(200_000));
    accepted(&"// x\n".repeat(200_000));
    rejected(&"'".repeat(100_000));
    rejected(&"@ ".repeat(200_000));
    rejected(&"; x ".repeat(100_000));
}

#[test]
fn many_unknown_names() {
    let unknown: String = (0..20_000).map(|i| format!("missing{i}(); ")).collect();
    let known: String = (0..20_000).map(|i| format!("fun known{i}() {{ }} ")).collect();
    rejected(&format!("{known} {}", in_entry(&unknown)));
    let states: String = (0..5_000).map(|i| format!("state S{i} {{ on E goto M{i}; }} ")).collect();
    rejected(&format!("event E; machine Main {{ start state S {{ }} {states} }}"));
}

#[test]
fn many_parameters_of_a_test() {
    let names: Vec<String> = (0..16).map(|i| format!("p{i}")).collect();
    let values: Vec<String> = names.iter().map(|name| format!("{name} in [true, false]")).collect();
    let program = |wise: &str| {
        format!(
            "param {}: bool; machine Main {{ start state S {{ }} }} test param ({}) {wise} T [main=Main]: {{ Main }};",
            names.join(", "),
            values.join(", ")
        )
    };
    accepted(&program("pairwise"));
    assert_eq!(rejected(&program("(8 wise)")), ["bad-test-param"]);
    let overflow = "param n: int; machine Main { start state S { } } test param (n in [2147483647])
        assume -((n + 1) * (n + 1) * 2) < 0 && (0 - n - 1) * (n + 1) * 2 / -1 < 0 T [main=Main]: { Main };";
    accepted(overflow);
}

#[test]
fn every_byte_as_a_character() {
    let all: String = (0..=255u8).map(char::from).collect();
    rejected(&all);
    for byte in 0..=255u8 {
        let c = char::from(byte);
        for text in [
            format!("{c}"),
            format!("machine Main {{ {c} }}"),
            in_entry(&format!("x = 1 {c} 2;")),
            format!("event E{c};"),
        ] {
            let (sources, compiled) = compile_text(&text, Dialect::default());
            check_places(&sources, &compiled.diagnostics);
        }
    }
}

/// Cut between two tokens, every seventh cut.
#[test]
fn prefixes_of_programs() {
    for (i, text) in corpus_texts().iter().enumerate() {
        let mut end = 0;
        for (j, token) in tokens(text).into_iter().enumerate() {
            end += token.len();
            if (i + j) % 7 == 0 {
                let (sources, compiled) = compile_text(&text[..end], Dialect::default());
                check_places(&sources, &compiled.diagnostics);
            }
        }
    }
}

//! Any bytes through lexer, parser and checker of P: no panic, no endless run, and places inside the text.

#![no_main]

use allways_base::{Sources, diagnostic};
use allways_p::{Dialect, FileRole, Input, compile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // The first byte picks the dialect, so that the corpus files, which are all ASCII, start as they are.
    let first = bytes.first().copied().unwrap_or_default();
    let dialect = Dialect { strict: first == 1, verifier: first == 2 };
    // Zero bytes split the input into files of different roles.
    let roles = [FileRole::Source, FileRole::ForeignBodies, FileRole::Included];
    let mut sources = Sources::default();
    let inputs: Vec<Input> = bytes
        .split(|&byte| byte == 0)
        .zip(roles)
        .map(|(text, role)| Input {
            file: sources.add("fuzz.p".to_owned(), String::from_utf8_lossy(text).into()),
            role,
        })
        .collect();
    let compiled = compile(&sources, &inputs, dialect);
    assert_eq!(compiled.program.is_none(), diagnostic::has_errors(&compiled.diagnostics));
    for diagnostic in &compiled.diagnostics {
        for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
            let range = label.span.start as usize..label.span.end as usize;
            assert!(sources.file(label.span.file).text.get(range).is_some(), "{diagnostic:?}");
        }
    }
});

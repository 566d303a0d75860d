//! Desugared programs check again and have neither `let` nor `lambda`.

use allways_base::FileId;
use allways_boogie::desugar::{desugar, has_sugar};
use allways_boogie::{analyze, check, parse, print};

fn desugared(text: &str) -> String {
    let (checked, diagnostics) = analyze(FileId::from_u32(0), text);
    let checked = checked.unwrap_or_else(|| panic!("{diagnostics:#?}"));
    let text = print(&desugar(&checked));
    let again = parse(FileId::from_u32(0), &text);
    assert!(again.diagnostics.is_empty(), "{text}\n{:#?}", again.diagnostics);
    assert!(!has_sugar(&again.program), "{text}");
    let (_, diagnostics) = check(again.program);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    text
}

#[test]
fn lambdas_become_functions_of_what_they_mention() {
    let text = desugared(
        "var g: int; const c: int;
        procedure main(p: int) {
          var m: [int]int; var n: [int][bool]int;
          m := (lambda i: int :: i + g + old(g) + c + p);
          n := (lambda i: int :: (lambda b: bool :: if b then i else g));
          assert (forall i: int :: (lambda j: int :: i + j)[1] == i + 1);
        }",
    );
    for part in [
        "m := lambda#0(p, old(g), g);",
        "function lambda#0(p#0: int, g#0: int, g#1: int) returns ([int]int);",
        "lambda#0(p#0, g#0, g#1)[i#0] == i#0 + g#1 + g#0 + c + p#0",
        "n := lambda#2(g);",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
}

#[test]
fn lets_are_substituted_without_capture() {
    let text = desugared(
        "procedure main(x: int) {
          assert (var y := x; (forall x: int :: x + y > 0));
          assert (var a, b := 1, x; (var a := a + b; a * b)) > 0;
        }",
    );
    assert!(text.contains("assert (forall x#0: int :: x#0 + x > 0);"), "{text}");
    assert!(text.contains("assert (1 + x) * x > 0;"), "{text}");
}

//! Monomorphization gives programs without type parameters that check again.

use allways_base::FileId;
use allways_boogie::mono::is_polymorphic;
use allways_boogie::{check, monomorphize, parse, print};

fn mono(text: &str) -> String {
    let parsed = parse(FileId::from_u32(0), text);
    assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics);
    let (checked, diagnostics) = check(parsed.program);
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    let program = monomorphize(&checked).unwrap_or_else(|d| panic!("{d:#?}"));
    let text = print(&program);
    let reparsed = parse(FileId::from_u32(0), &text);
    assert!(reparsed.diagnostics.is_empty(), "{text}\n{:#?}", reparsed.diagnostics);
    assert!(!is_polymorphic(&reparsed.program));
    let (_, diagnostics) = check(reparsed.program);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    text
}

#[test]
fn functions_axioms_and_procedures_are_copied_per_use() {
    let text = mono(
        "type Field a; type Ref;
        function get<a>(f: Field a, r: Ref): a;
        function id<b>(x: b): b { x }
        function pair<a, b>(x: a, y: b): bool;
        axiom (forall<a> f: Field a, r: Ref :: {get(f, r)} id(get(f, r)) == get(f, r));
        axiom (forall<a> x: a, y: int :: pair(x, y));
        const size: Field int; const flag: Field bool; const null: Ref;
        procedure swap<t>(x: t, y: t) returns (u: t, v: t) { u, v := y, x; call u, v := swap(u, v); }
        procedure main() {
          var i, j: int; var m: [int]bool;
          i := get(size, null);
          assert get(flag, null) ==> pair(m, 3);
          call i, j := swap(i, 1);
          call m, m := swap2(m, id(m));
        }
        procedure swap2<t>(x: t, y: t) returns (u: t, v: t);
        implementation swap2<s>(x: s, y: s) returns (u: s, v: s) { var w: s; w := id(x); }"
            .replace("call m, m :=", "call m, * :=")
            .as_str(),
    );
    for part in [
        "function get#int(f: Field int, r: Ref) returns (int);",
        "function get#bool(f: Field bool, r: Ref) returns (bool);",
        "axiom (forall f: Field bool, r: Ref :: {get#bool(f, r)} id#bool(get#bool(f, r)) == get#bool(f, r));",
        "pair#.int.bool#int(x, y)",
        "procedure swap#int(x: int, y: int)",
        "implementation swap2#.int.bool(x: [int]bool",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    assert!(!text.contains("<"), "{text}");
}

#[test]
fn ever_growing_types_are_rejected() {
    let text = "
        type L a;
        function f<a>(x: a): bool;
        function l<a>(x: a): L a;
        axiom (forall<a> x: a :: f(x) == f(l(x)));
        procedure main() { assert f(1); }";
    let (checked, diagnostics) = check(parse(FileId::from_u32(0), text).program);
    assert!(diagnostics.is_empty());
    let Err(diagnostics) = monomorphize(&checked) else { panic!("accepted") };
    assert_eq!(diagnostics[0].code.as_str(), "boogie-unsupported");
}

#[test]
fn axiom_without_copies_is_a_warning() {
    let warned = |text: &str| {
        let (checked, diagnostics) = allways_boogie::analyze(FileId::from_u32(0), text);
        assert!(checked.is_some(), "{diagnostics:#?}");
        diagnostics.iter().filter(|d| d.code == allways_boogie::codes::UNUSED_AXIOM).count()
    };
    let head = "function size<T>(x: T) returns (int); axiom (forall<T> x: T :: size(x) >= 0);";
    assert_eq!(warned(head), 1);
    assert_eq!(warned(&format!("{head} procedure main() {{ assert size(1) >= 0; }}")), 0);
    // No application mentions both types.
    let pairs = "function size<T>(x: T) returns (int); axiom (forall<S, T> x: S, y: T :: size(x) == size(y));
        procedure main() { assert size(1) == size(true); }";
    assert_eq!(warned(pairs), 1);
}

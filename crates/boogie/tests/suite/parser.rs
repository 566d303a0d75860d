//! Parser and printer: the whole grammar round-trips, mistakes are counted, depth is bounded.

use allways_base::FileId;
use allways_boogie::{parse, print};

fn codes(text: &str) -> Vec<&'static str> {
    parse(FileId::from_u32(0), text).diagnostics.iter().map(|d| d.code.as_str()).collect()
}

/// The printed form of a text without mistakes; checks that printing is a fixed point.
fn round_trip(text: &str) -> String {
    let parsed = parse(FileId::from_u32(0), text);
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:#?}", parsed.diagnostics);
    let once = print(&parsed.program);
    let again = parse(FileId::from_u32(0), &once);
    assert!(again.diagnostics.is_empty(), "{once}\n{:#?}", again.diagnostics);
    assert_eq!(print(&again.program), once);
    once
}

#[test]
fn every_declaration_round_trips() {
    round_trip(
        r#"
        type T; type C a b; type {:x} finite Id; type S a = [a](C a int), U = bv32;
        const unique a, b: T; const {:v 3, "s\"q"} c: C int (C bool T);
        function f(int, bool) returns (int);
        function {:inline} g<x>(p, q: x, r: int): x { if r > 0 then p else q }
        axiom {:init} (forall<t> x: t, y: int :: {:weight 3} {f(y, true)} {f(y, false), f(1, true)} f(y, x == x) > 0);
        var x, y: int where x < y, m: [int, bool][T]U;
        var {:thread_local} tid: int;
        procedure {:entrypoint} main(p, q: int where p != q, r: bool) returns (s: int, t: <a>[a]int);
          requires {:x} p > 0; free ensures s == old(x); modifies x, y; free modifies;
        implementation {: method} main(p: int, q: int, r: bool) returns (s: int, t: <a>[a]int) {
          var i, j: int where i < j; var {:k} k: task (C int T);
          a: b: assert {:m} x == 0; assume true;
          havoc x, y; x, m[1, true][a] := 1, 2bv32; m[0,r] := m[1,r];
          call {:async k} s := p(1); call p(2); async call p(); free call s, * := q(x, y);
          assume {:wait s, k} true; assume {:yield r, 1, 2} true; yield;
          if (*) { goto a, b; } else if (x < 0) { return; } else { break; }
          lab: while (x > 0) invariant x > 0; free invariant {:z} true; { break lab; }
          while (*) { }
          end:
        }
        procedure yield(async: int, div: bool, posts: int) posts yield; { \then := async; }
        "#,
    );
}

#[test]
fn expressions_keep_their_shape() {
    let shown = |expr: &str| {
        let printed = round_trip(&format!("axiom {expr};"));
        printed.trim_end().trim_end_matches(';').trim_start_matches("axiom ").to_owned()
    };
    for same in [
        "a ==> b ==> c",
        "(a ==> b) ==> c",
        "a <== b <== c",
        "a ==> (b <== c)",
        "(a && b) || c || (d && e)",
        "(a || b) && c",
        "a <==> b <==> (c <==> d)",
        "(a < b) == (c < d)",
        "1 + 2 * 3 - (4 - 5)",
        "a ** b ** c",
        "(a ** b) ** -c",
        "!!a && --x < 0",
        "-(a + b)",
        "(-a)[3:1] ++ b[1:0]",
        "m[i := 1][j, k := n[2]][l]",
        "(x: T)[i]",
        "(if a then b else c) + 1",
        "if a then b else c + 1",
        "(forall x: int, y: C int bool :: {f(x), g(y)} {h(x)} x > 0 ==> f(x))",
        "(lambda i: int :: i + 1)[3] == old(x + 1)",
        "(var x, y := 1, 2; x + y)",
        "int(1.5e-3) div real(x) mod 5bv32",
        "(x: T) div 2",
        "m[]",
        "m[:= 1]",
    ] {
        assert_eq!(shown(same), same);
    }
    assert_eq!(shown("((a)) ∧ ¬b ⇒ (∀ x: int • x ≠ 1)"), "a && !b ==> (forall x: int :: x != 1)");
    assert_eq!(shown("a / b % c"), "a / b % c");
}

#[test]
fn three_mistakes_show_as_three() {
    let text = "
        var x: int
        procedure p() { x := ; y := 2; if (x < ) { assert x x; } x := 1; }
        function f(int: int;
        procedure q() { call p(; }
        procedure r() { x := 1; }";
    assert_eq!(codes(text), ["boogie-syntax"; 6]);
    let parsed = parse(FileId::from_u32(0), text);
    // `p`, `q` and `r` survive the mistakes around and inside them.
    assert_eq!(parsed.program.decls.len(), 4);
}

#[test]
fn foreign_constructs_are_rejected_by_name() {
    for text in [
        "datatype D { A(x: int) }",
        "yield procedure p() { }",
        "procedure p() { par call q(); }",
        "procedure p() { call forall q(*); }",
        "procedure p() { x := |{ a: return true; }|; }",
        "procedure p() { x := y->f; }",
        "procedure p() { return 1; }",
    ] {
        assert_eq!(codes(text), ["boogie-unsupported"], "{text}");
    }
}

#[test]
fn mixtures_are_reported() {
    assert_eq!(codes("axiom a && b || c;"), ["boogie-mixed-logic"]);
    assert_eq!(codes("axiom a || b && c;"), ["boogie-mixed-logic"]);
    assert_eq!(codes("axiom a ==> b <== c;"), ["boogie-mixed-arrows"]);
    assert_eq!(codes("axiom a <== b ==> c;"), ["boogie-mixed-arrows"]);
    assert_eq!(codes("axiom a < b < c;"), ["boogie-chained-relation"]);
}

#[test]
fn depth_is_bounded_and_length_is_not() {
    let n = 30_000;
    for text in [
        format!("axiom {}x{};", "(".repeat(n), ")".repeat(n)),
        format!("axiom {}x{};", "m[".repeat(n), "]".repeat(n)),
        format!("var m: {}int;", "[int]".repeat(n)),
        format!("procedure p() {{ {}{} }}", "if (*) {".repeat(n), "}".repeat(n)),
        format!("procedure p() {{ {}{} }}", "while (*) {".repeat(n), "}".repeat(n)),
        format!("axiom {}x;", "if a then b else ".repeat(n)),
        "axiom ".to_owned() + &"(forall x: int :: ".repeat(n),
    ] {
        assert!(codes(&text).contains(&"boogie-nesting"));
    }
    round_trip(&format!("axiom x{};", " + x".repeat(n)));
    round_trip(&format!("axiom x{};", " ==> x".repeat(n)));
    round_trip(&format!("axiom x{};", " ** x".repeat(n)));
    round_trip(&format!("axiom {}x;", "!".repeat(n)));
    round_trip(&format!("axiom m{};", "[0 := 1]".repeat(n)));
    let arms = " else if (*) { x := 1; }".repeat(n);
    round_trip(&format!("procedure p() {{ if (*) {{ }}{arms} }}"));
}

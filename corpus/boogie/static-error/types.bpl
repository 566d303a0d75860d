// diagnostics: boogie-duplicate@3, boogie-type-arguments@4, boogie-not-a-map@7, boogie-arity@8, boogie-number@9, boogie-type-mismatch@10, boogie-type-mismatch@11, boogie-ambiguous-type@12, boogie-ambiguous-type@12
type C a;
type C b;
var bad: C;
var m: [int]int; var x: int; var b: bv8; function e<t>(): t;
procedure main() {
  x := x[1];
  x := m[1, 2];
  b := 256bv8;
  b := b + b;
  x := b[9:0];
  assert e() == e();
}

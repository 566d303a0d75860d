// diagnostics: boogie-misplaced-global@4, boogie-misplaced-old@6, boogie-not-assignable@8, boogie-not-assignable@9, boogie-repeated-target@10, boogie-misplaced-global@12
const c: int;
var g: int;
axiom g == c;
procedure main(p: int)
  requires old(g) == 0;
{
  p := 1;
  c := 2;
  g, g := 1, 2;
}
function f(): int { g }

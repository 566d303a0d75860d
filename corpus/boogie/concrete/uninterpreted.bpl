// Functions without body are arbitrary but functions; unique constants differ.
// explore: concurrent exit holds

type Color;
const unique red, green: Color;
const base: int;
function f(c: Color) returns (int);
axiom f(red) == base;

procedure main()
{
  assert red != green;
  assert f(red) == base && f(green) == f(green);
}

// safe 1
function f(int) returns (int);
axiom (forall x: int :: {f(x)} f(x) > x);
procedure main() { assert f(f(5)) > 6; }

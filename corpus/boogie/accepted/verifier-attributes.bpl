// Attributes and `uses` clauses that direct the Boogie tool's own proofs.
const c: int uses { axiom c == 3; }
function f(x: int) returns (int) uses { axiom (forall x: int :: {f(x)} f(x) > x); axiom f(0) == 1; }
procedure main() {
  var x: int;
  x := {:id "a"} c;
  if {:id "b"} (x == 3) { goto {:id "c"} L; }
  L: return {:id "d"};
}

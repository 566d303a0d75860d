// Quantifiers and lambdas over finite types.
// explore: concurrent exit holds

function both(p: [bool]bool) returns (bool) { (forall b: bool :: {p[b]} p[b]) }

procedure main()
{
  var m: [bool]bool;
  assert (exists b: bool :: b) && !(forall b: bool :: b);
  m := (lambda b: bool :: b || !b);
  assert both(m) && !both(m[false := false]);
  assert (forall x, y: bool :: (x ==> y) <==> (y <== x));
  assert (var x, y := 1, 2; x + y) == 3;
}

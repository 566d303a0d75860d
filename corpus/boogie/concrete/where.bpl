// `where` clauses hold initially, after `havoc`, and of results.
// ints: -1..2
// explore: concurrent exit holds

var g: int where g >= 0;

procedure any() returns (r: int where r != 0);

procedure main()
{
  var x: int where x > 0;
  var r: int;
  assert g >= 0 && x > 0;
  havoc g, x;
  assert g >= 0 && x > 0;
  call r := any();
  assert r != 0;
}

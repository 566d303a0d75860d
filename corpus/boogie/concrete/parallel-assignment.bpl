// All right sides and indices are evaluated before anything is written.
// explore: concurrent exit holds

var x, y: int;
var m: [int]int;

procedure main()
{
  x, y := 1, 2;
  x, y := y, x;
  assert x == 2 && y == 1;
  x, m[x] := 5, 9;
  assert m[2] == 9 && x == 5;
}

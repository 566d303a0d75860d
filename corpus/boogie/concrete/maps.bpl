// Maps are total, compared as wholes, and updated in place or in expressions.
// explore: concurrent exit holds

var m: [int]int;
var grid: [int][bool]int;
var two: [int, bool]int;

procedure main()
{
  var n: [int]int;
  n := m[1 := 10][2 := 20];
  assert n[1] == 10 && n[2] == 20 && n[3] == m[3];
  m[1] := 10;
  m[2] := 20;
  assert m == n;
  m[1] := m[2];
  assert m != n && m[1 := 10] == n;
  grid[0][true] := 5;
  assert grid[0][true] == 5 && grid[0] == grid[0][true := 5];
  two[3, false] := 7;
  assert two[3, false] == 7;
}

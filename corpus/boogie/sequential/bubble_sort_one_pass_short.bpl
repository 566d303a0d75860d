// fails 3 assert
var a: [int]int;
procedure main() modifies a;
{
  var j: int;
  j := 0;
  while (j < 2) { if (a[j] > a[j + 1]) { a := a[j := a[j + 1]][j + 1 := a[j]]; } j := j + 1; }
  assert a[0] <= a[1];
}

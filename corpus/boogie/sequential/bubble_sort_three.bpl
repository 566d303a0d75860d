// safe 3
var a: [int]int;
procedure swap(i: int, j: int) modifies a; { a := a[i := a[j]][j := a[i]]; }
procedure main() modifies a;
{
  var i, j: int;
  i := 0;
  while (i < 2) {
    j := 0;
    while (j < 2) { if (a[j] > a[j + 1]) { call swap(j, j + 1); } j := j + 1; }
    i := i + 1;
  }
  assert a[0] <= a[1] && a[1] <= a[2];
}

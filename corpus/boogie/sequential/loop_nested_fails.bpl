// fails 4 assert
procedure main()
{
  var i, j, n: int;
  i, n := 0, 0;
  while (i < 3) {
    j := 0;
    while (j < 2) { n := n + 1; j := j + 1; }
    i := i + 1;
  }
  assert n != 6;
}

// safe 1
procedure main()
{
  var i, j: int;
  i, j := 0, 0;
  outer: while (true) {
    while (true) {
      j := j + 1;
      if (j == 2) { break outer; }
    }
  }
  assert i == 0 && j == 2;
}

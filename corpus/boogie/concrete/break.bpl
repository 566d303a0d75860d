// `break` leaves the nearest loop, `break L` the statement that `L` names.
// explore: concurrent exit holds

procedure main()
{
  var i, j: int;
  i := 0;
outer:
  while (true)
  {
    j := 0;
    while (true)
    {
      if (j == 2) { break; }
      if (i == 3) { break outer; }
      j := j + 1;
    }
    assert j == 2;
    i := i + 1;
  }
  assert i == 3;
block:
  if (true)
  {
    i := 7;
    if (i == 7) { break block; }
    i := 8;
  }
  assert i == 7;
}

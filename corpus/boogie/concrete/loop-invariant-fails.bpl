// Invariants are asserted at each visit of the loop's head, the last one included.
// explore: concurrent exit fails

procedure main()
{
  var i: int;
  i := 0;
  while (i < 3)
    invariant i < 3;
  {
    i := i + 1;
  }
}

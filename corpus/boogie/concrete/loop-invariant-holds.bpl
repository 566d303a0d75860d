// The same with an invariant that is true at the end too.
// explore: concurrent exit holds

procedure main()
{
  var i: int;
  i := 0;
  while (i < 3)
    invariant i <= 3;
    free invariant i >= 0;
  {
    i := i + 1;
  }
  assert i == 3;
}

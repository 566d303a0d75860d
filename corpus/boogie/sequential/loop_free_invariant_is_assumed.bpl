// safe 3
procedure main()
{
  var i: int;
  i := 0;
  while (*)
    free invariant i < 2;
  { i := i + 1; }
  assert i < 2;
}

// fails 3 invariant
procedure main()
{
  var i: int;
  i := 0;
  while (*)
    invariant i < 2;
  { i := i + 1; }
}

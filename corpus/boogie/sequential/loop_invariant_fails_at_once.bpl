// fails 1 invariant
procedure main()
{
  var i: int;
  i := 0;
  while (*)
    invariant i > 0;
  { i := i + 1; }
}

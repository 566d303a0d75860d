// safe 6
procedure main()
{
  var i, s: int;
  i, s := 0, 0;
  while (i < 5) { i := i + 1; s := s + i; }
  assert s == 15;
}

// safe 4
procedure main()
{
  var i, k: int;
  i := 0;
  while (i < 3) { if (*) { k := 1; goto early; } i := i + 1; }
  assert i == 3;
  k := 2;
  early:
  assert k == 1 || i == 3;
}

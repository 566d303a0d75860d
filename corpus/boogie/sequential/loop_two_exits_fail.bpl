// fails 2 assert
procedure main()
{
  var i, k: int;
  i := 0;
  while (i < 3) { if (i == 1) { k := 1; goto early; } i := i + 1; }
  k := 2;
  early:
  assert k == 2;
}

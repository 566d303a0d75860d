// fails 4 assert
procedure main()
{
  var i, n: int;
  assume 0 <= n && n <= 3;
  i := 0;
  while (i < n) { i := i + 1; }
  assert i < 3;
}

// fails 3 assert
procedure main()
{
  var i: int;
  i := 0;
  while (true) { assert i < 2; i := i + 1; }
}

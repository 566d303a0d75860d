// fails 1 assert
procedure main()
{
  var i, t: int;
  i := 0;
  while (i < 1) { havoc t; i := i + 1; assert t != 5; }
}

// fails 4 assert
procedure main()
{
  var x: int;
  x := 0;
  goto head;
  head: goto body, out;
  body: assume x < 3; x := x + 1; goto head;
  out: assume x >= 3; assert x != 3; return;
}

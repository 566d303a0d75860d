// fails 1 assert
procedure main()
{
  var x: int;
  goto a, b;
  a: x := 1; goto c;
  b: x := 2; goto c;
  c: assert x == 1;
}

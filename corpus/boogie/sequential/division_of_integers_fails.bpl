// fails 1
procedure main()
{
  var x: int;
  assert x / 2 == real(x div 2);
}

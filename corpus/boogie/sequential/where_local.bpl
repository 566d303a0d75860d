// safe 1
procedure main()
{
  var x: int where x > 0;
  assert x > 0;
  havoc x;
  assert x > 0;
}

// fails 1 assert
procedure main()
{
  var r: real;
  assume r > 0.0 && r < 1.0;
  assert r != 0.25;
}

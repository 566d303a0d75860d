// fails 1 assert
procedure main()
{
  var x, y: int;
  y := if x < 0 then -x else x;
  assert y > 0;
}

// fails 1 assert
procedure main()
{
  var a, b: bool;
  assert (a <==> b) <==> a;
}

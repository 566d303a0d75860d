// safe 1
procedure main()
{
  var a, b, c: bool;
  assert (a ==> b ==> c) == (a ==> (b ==> c));
  assert (a <== b) == (b ==> a);
}

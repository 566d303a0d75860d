// safe 1
procedure main()
{
  var i: int;
  i := 5;
  assert (forall i: int :: i == i) && i == 5;
}

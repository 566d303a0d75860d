// fails 1 assert
procedure main()
{
  var m: [int]int;
  assert (forall i: int :: m[i] >= 0);
}

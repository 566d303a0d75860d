// safe 1
procedure main()
{
  var m: [int]int;
  assume (forall i: int :: 0 <= i ==> m[i] > i);
  assert m[7] > 7;
}

// safe 1
procedure main()
{
  var m: [int, int]bool;
  assume (forall i, j: int :: m[i, j] == false);
  assert !m[3, 4];
}

// safe 1
procedure main()
{
  var m: [int]int;
  assume (forall i: int :: m[i] == 0);
  m[2] := 1;
  assert m[1] + m[2] == 1;
}

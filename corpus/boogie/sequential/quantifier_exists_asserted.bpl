// safe 1
procedure main()
{
  var m: [int]int;
  m[3] := 4;
  assert (exists i: int :: m[i] == 4);
}

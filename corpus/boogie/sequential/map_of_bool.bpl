// safe 1
procedure main()
{
  var s: [int]bool;
  assume (forall i: int :: !s[i]);
  s[4] := true;
  assert s[4] && !s[5];
}

// safe 1
procedure main()
{
  var m: [int, bool]int;
  m[1, true] := 5;
  m[1, false] := 6;
  assert m[1, true] == 5;
  assert m[1, false] == 6;
}

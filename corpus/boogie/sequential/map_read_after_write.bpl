// safe 1
procedure main()
{
  var m: [int]int;
  m[1] := 5;
  m[2] := 6;
  assert m[1] == 5 && m[2] == 6;
}

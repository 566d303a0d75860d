// safe 1
procedure main()
{
  var m: [int][int]int;
  m[1][2] := 5;
  m[1][3] := 6;
  m[2][2] := 7;
  assert m[1][2] == 5 && m[1][3] == 6 && m[2][2] == 7;
}

// safe 1
procedure main()
{
  var m: [int]int, i: int;
  i := 1;
  m[1] := 0;
  m[i], i := 7, 2;
  assert m[1] == 7 && i == 2;
}

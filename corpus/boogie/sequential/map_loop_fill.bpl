// safe 4
procedure main()
{
  var m: [int]int, i: int;
  i := 0;
  while (i < 3) { m[i] := i * i; i := i + 1; }
  assert m[0] == 0 && m[1] == 1 && m[2] == 4;
}

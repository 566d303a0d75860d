// fails 1 assert
procedure main()
{
  var m: [int]int, i, j: int;
  m[i] := 1;
  m[j] := 2;
  assert m[i] == 1;
}

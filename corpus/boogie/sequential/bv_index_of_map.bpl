// safe 1
procedure main()
{
  var m: [bv8]int;
  m[1bv8] := 1;
  m[2bv8] := 2;
  assert m[1bv8] == 1;
}

// safe 1
procedure main()
{
  var m: [int]int, k: int;
  k := 10;
  m := (lambda i: int :: i + k);
  k := 0;
  assert m[5] == 15;
}

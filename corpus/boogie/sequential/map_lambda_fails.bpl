// fails 1 assert
procedure main()
{
  var m: [int]int, k: int;
  m := (lambda i: int :: i + k);
  assert m[5] == 15;
}

// safe 1
procedure main()
{
  var x: int;
  x := 1;
  goto done;
  x := 2;
  done:
  assert x == 1;
}

// safe 1
procedure main()
{
  var x: int;
  x := 0;
  goto end;
  assert false;
  end:
}

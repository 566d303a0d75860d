// safe 1
procedure main()
{
  var r: real;
  r := 1.0 / 3.0;
  assert r * 3.0 == 1.0;
  assert int(2.5) == 2;
  assert real(2) == 2.0;
  assert 1e2 == 100.0;
}

// safe 1
procedure main()
{
  var x: int, y: real;
  assert 1 / 2 < 3 / 4;
  assert 1 / 2 == 0.5;
  assert int(7 / 2) == 3 && 7 div 2 == 3;
  assert 3 / 1.5 == 2.0 && 1.5 / 3 == 0.5;
  y := x / 2;
  assert y * 2.0 == real(x);
}

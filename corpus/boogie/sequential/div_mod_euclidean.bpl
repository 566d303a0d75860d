// safe 1
procedure main()
{
  assert -7 div 2 == -4;
  assert -7 mod 2 == 1;
  assert 7 div -2 == -3;
  assert 7 mod -2 == 1;
}

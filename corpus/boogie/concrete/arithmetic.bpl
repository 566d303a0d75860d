// Division of integers and remainder are Euclidean; `/` divides real numbers.
// explore: concurrent exit holds

procedure main()
{
  assert 7 div 2 == 3 && 7 mod 2 == 1;
  assert -7 div 2 == -4 && -7 mod 2 == 1;
  assert 7 div -2 == -3 && 7 mod -2 == 1;
  assert -7 div 2 == -4 && -7 / 2 == -3.5 && -7 % 2 == 1;
  assert 1.5 + 0.25 == 1.75 && 3.0 / 2.0 == 1.5;
  assert int(2.5) == 2 && int(-2.5) == -3 && real(2) == 2.0;
  assert 2 + 3 * 4 - 1 == 13;
  assert 3 < 4 && 4 <= 4 && 5 > 4 && 5 >= 5 && 3 != 4;
}

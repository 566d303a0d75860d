// `old` is the state in which the procedure was entered.
// explore: concurrent exit holds

var g: int;

procedure add(n: int)
  modifies g;
  ensures g == old(g) + n;
{
  g := g + n;
  assert old(g) == g - n;
}

procedure main()
{
  g := 1;
  call add(2);
  call add(3);
  assert g == 6;
}

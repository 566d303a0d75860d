// explore: concurrent exit fails

var g: int;

procedure change();
  modifies g;

procedure main()
{
  g := 0;
  call change();
  assert g == 0;
}

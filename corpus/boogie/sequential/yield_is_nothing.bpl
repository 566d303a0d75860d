// safe 1
var g: int;

procedure main() modifies g;
{
  g := 1;
  yield;
  assume {:yield} true;
  assert g == 1;
}

// safe 1
var g: int;

procedure main() modifies g;
{
  g := 1;
  call boogie_si_record_int(g);
  assert g == 1;
}

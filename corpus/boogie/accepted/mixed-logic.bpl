// diagnostics: boogie-mixed-logic@4
procedure main(a: bool, b: bool, c: bool)
{
  assume a || b && c;
}

// safe 1
procedure main()
{
  goto l;
  l: goto l, out;
  out: assume false;
}

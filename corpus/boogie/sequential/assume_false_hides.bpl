// safe 1
procedure main()
{
  assume false;
  assert false;
}

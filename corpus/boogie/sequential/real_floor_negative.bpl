// safe 1
procedure main()
{
  assert int(-2.5) == -3;
}

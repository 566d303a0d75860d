// safe 1
procedure main()
{
  assert 007 == 7;
}

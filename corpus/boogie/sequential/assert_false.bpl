// fails 1 assert
procedure main()
{
  assert false;
}

// safe 1
procedure main()
{
  assert (forall i: int :: (exists j: int :: j > i));
}

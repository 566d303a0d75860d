// explore: concurrent exit fails

procedure main()
{
  if (*)
  {
    call corral_assert_not_reachable();
  }
}

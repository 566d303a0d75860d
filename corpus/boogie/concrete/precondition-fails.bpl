// explore: concurrent exit fails

procedure p(x: int)
  requires x > 0;
{
}

procedure main()
{
  call p(0);
}

// explore: concurrent exit fails

procedure main()
{
  var b: bool;
  b := true;
  havoc b;
  assert b;
}

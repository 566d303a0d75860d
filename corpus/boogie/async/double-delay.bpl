// A task with a single yield may have to be overtaken in two rounds.
// explore: df(2) exit holds
// explore: df(3) exit fails
// explore: dfw(2) exit holds
// explore: dfw(3) exit fails

var g: int;

procedure a()
{
  yield;
  assert g != 2;
}

procedure b()
{
  yield;
  if (g == 1) { g := 2; }
}

procedure c()
{
  if (g == 0) { g := 1; }
}

procedure main()
{
  g := 0;
  call {:async} a();
  call {:async} b();
  call {:async} c();
}

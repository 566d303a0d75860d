// Each task has its own copy of a thread-local variable, arbitrary at first.
// explore: concurrent exit holds

var {:thread_local} mine: int;
var done: bool;

procedure child()
{
  mine := 7;
  yield;
  assert mine == 7;
}

procedure main()
{
  mine := 1;
  async call child();
  yield;
  assert mine == 1;
}

// Atomic sections keep others out, whatever the schedule.
// preemption: automatic
// explore: concurrent exit holds
// explore: df(3) exit holds
// explore: dfw(3) exit holds
// explore: child-first(3) exit holds

var x, y: int;

procedure both()
{
  call corral_atomic_begin();
  x := x + 1;
  y := y + 1;
  call corral_atomic_end();
}

procedure main()
{
  x, y := 0, 0;
  async call both();
  async call both();
  call corral_atomic_begin();
  assert x == y;
  call corral_atomic_end();
}

// Peterson's protocol for two tasks, preempted before every access.
// preemption: automatic
// check: dfw(2) recursion(1) exit holds
// check: df(2) recursion(1) exit holds
// check: child-first(3) recursion(1) exit holds

var flag0, flag1: bool;
var turn: int;
var inside: int;

procedure zero()
{
  flag0 := true;
  turn := 1;
  assume !flag1 || turn == 0;
  inside := inside + 1;
  assert inside == 1;
  inside := inside - 1;
  flag0 := false;
}

procedure one()
{
  flag1 := true;
  turn := 0;
  assume !flag0 || turn == 1;
  inside := inside + 1;
  assert inside == 1;
  inside := inside - 1;
  flag1 := false;
}

procedure main()
{
  flag0 := false;
  flag1 := false;
  inside := 0;
  async call zero();
  async call one();
}

// Peterson's protocol with the turn taken before the flag is raised: both get in.
// preemption: automatic
// check: dfw(0) recursion(1) exit holds
// check: dfw(1) recursion(1) exit holds
// check: dfw(2) recursion(1) exit fails
// check: df(2) recursion(1) exit fails
// check: child-first(2) recursion(1) exit fails

var flag0, flag1: bool;
var turn: int;
var inside: int;

procedure zero()
{
  turn := 1;
  flag0 := true;
  assume !flag1 || turn == 0;
  inside := inside + 1;
  assert inside == 1;
  inside := inside - 1;
  flag0 := false;
}

procedure one()
{
  turn := 0;
  flag1 := true;
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

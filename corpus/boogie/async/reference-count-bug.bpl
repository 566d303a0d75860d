// A driver counts those inside and stops when nobody is left; one looks at the flag before it counts itself in.
// check: dfw(0) recursion(1) exit holds
// check: dfw(1) recursion(1) exit holds
// check: dfw(2) recursion(1) exit fails
// check: df(2) recursion(1) exit fails
// check: child-first(2) recursion(1) exit fails

var inside: int;
var stopping: bool;
var event: bool;
var stopped: bool;

procedure leave()
{
  var now: int;
  yield;
  inside := inside - 1;
  now := inside;
  yield;
  if (now == 0) {
    event := true;
  }
}

procedure enter() returns (ok: bool)
{
  yield;
  ok := !stopping;
  yield;
  if (ok) {
    inside := inside + 1;
  }
}

procedure work()
{
  var ok: bool;
  call ok := enter();
  if (ok) {
    yield;
    assert !stopped;
    call leave();
  }
}

procedure stop()
{
  yield;
  stopping := true;
  call leave();
  yield;
  assume event;
  stopped := true;
}

procedure main()
{
  inside := 1;
  stopping := false;
  event := false;
  stopped := false;
  async call stop();
  async call work();
}

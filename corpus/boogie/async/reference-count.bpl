// The same protocol, where one counts oneself in first and looks at the flag afterwards.
// check: dfw(3) recursion(1) exit holds
// check: df(3) recursion(1) exit holds
// check: child-first(3) recursion(1) exit holds

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

procedure work()
{
  var ok: bool;
  yield;
  inside := inside + 1;
  yield;
  ok := !stopping;
  if (ok) {
    yield;
    assert !stopped;
  }
  call leave();
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
  async call work();
}

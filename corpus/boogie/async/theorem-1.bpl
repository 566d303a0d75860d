// DF(1) sees a failure that DFW(1) does not: J is complete in round 1, so DF passes the wait before D
// runs, and DFW must run D first. Watch checks in the end, and may be delayed until then.
// explore: df(0) exit holds
// explore: df(1) exit fails
// explore: dfw(1) exit holds
// explore: dfw(2) exit holds
// explore: dfw(3) exit fails

type task a;
var g0, g1, g2: int;

procedure J()
{
  g0 := 1;
}

procedure D(x: int)
{
  assume {:yield} true;
  g1 := x;
}

procedure Watch()
{
  assume {:yield} true;
  assert !(g0 == 1 && g1 == 1 && g2 == 0);
}

procedure {:entrypoint} main()
{
  var j: task int;
  var x: int;
  g0, g1, g2 := 0, 0, 0;
  call {:async j} J();
  assume {:yield} true;
  x := g0;
  call {:async} D(x);
  assume {:wait j} true;
  g2 := g1;
  call {:async} Watch();
}

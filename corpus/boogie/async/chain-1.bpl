// The chained calls of the DFW paper, 1 of them: free under DFW, one delay each under DF.
// explore: dfw(0) exit fails
// explore: df(0) exit holds
// explore: df(1) exit fails
// explore: dfw(0) continue fails
// explore: df(0) continue holds
// explore: df(1) continue fails

type task a;
var i: int;

procedure p()
{
}

procedure {:entrypoint} main()
{
  var t: task int;
  i := 0;
  while (i < 1)
  {
    call {:async t} p();
    i := i + 1;
    assume {:yield} true;
    assume {:wait t} true;
  }
  assert false;
}

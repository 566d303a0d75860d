// The chained calls of the DFW paper, 3 of them: free under DFW, one delay each under DF.
// explore: dfw(0) exit fails
// explore: df(2) exit holds
// explore: df(3) exit fails
// explore: dfw(0) continue fails
// explore: df(2) continue holds
// explore: df(3) continue fails

type task a;
var i: int;

procedure p()
{
}

procedure {:entrypoint} main()
{
  var t: task int;
  i := 0;
  while (i < 3)
  {
    call {:async t} p();
    i := i + 1;
    assume {:yield} true;
    assume {:wait t} true;
  }
  assert false;
}

// Waiting for a handle that was never assigned is a mistake of the program.
// explore: dfw(0) exit fails
// explore: df(0) exit fails

type task a;

procedure main()
{
  var t: task int;
  assume {:wait t} true;
}

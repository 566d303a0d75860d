// Two tasks that hand a turn back and forth and post themselves again.
//~ diverges 1 1
//~ diverges 1 1 fair
//~ diverges 1 5
var x: bool;

procedure {:entrypoint} Main()
  modifies x;
{
  x := false;
  call {:async} Ping();
  call {:async} Pong();
}

procedure Ping()
  modifies x;
{
  if (!x) {
    call {:async} Ping();
    x := true;
  }
}

procedure Pong()
  modifies x;
{
  if (x) {
    call {:async} Pong();
    x := false;
  }
}

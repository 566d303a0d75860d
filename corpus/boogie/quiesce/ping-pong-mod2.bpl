// Ping-pong with a counter modulo 2: only 2 turns of both tasks lead back to where they began.
//~ diverges 2 2
//~ none 2 1
//~ none 1 5
var x: bool;
var i: int;

procedure {:entrypoint} Main()
  modifies x, i;
{
  x := false;
  i := 0;
  call {:async} Ping();
  call {:async} Pong();
}

procedure Ping()
  modifies x, i;
{
  i := (i + 1) mod 2;
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

// Ping-pong with a counter modulo 3: only 3 turns of both tasks lead back to where they began.
//~ diverges 3 3
//~ none 2 5
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
  i := (i + 1) mod 3;
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

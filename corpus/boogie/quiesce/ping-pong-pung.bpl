// Three tasks in turn; each posts the one that ran before it.
//~ diverges 2 5
//~ none 1 5
var x: int;

procedure {:entrypoint} Main()
  modifies x;
{
  x := 0;
  call {:async} Ping();
  call {:async} Pong();
  call {:async} Pung();
}

procedure Ping()
  modifies x;
{
  if (x == 0) {
    x := 1;
    call {:async} Pung();
  }
}

procedure Pong()
  modifies x;
{
  if (x == 1) {
    x := 2;
    call {:async} Ping();
  }
}

procedure Pung()
  modifies x;
{
  if (x == 2) {
    x := 0;
    call {:async} Pong();
  }
}

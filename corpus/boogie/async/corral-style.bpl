// Threads in Corral's spelling, with preemption before every shared access.
// preemption: automatic
// explore: concurrent exit fails
// explore: child-first(2) exit fails

var balance: int;

procedure withdraw()
{
  var b: int;
  b := balance;
  balance := b - 1;
}

procedure main()
{
  balance := 2;
  async call withdraw();
  call withdraw();
  assume balance != 2;
  assert balance == 0;
}

// The same without parents, so that fewer activations lead back to where they began.
//~ diverges 1 6
type Pid;

const infinity: int;

var dist: [Pid]int;

procedure {:entrypoint} Main()
  modifies dist;
{
  var root: Pid;
  assume (forall p: Pid :: dist[p] == infinity);
  call {:async} visit(root, 0, root);
}

procedure visit(me: Pid, d: int, from: Pid)
  modifies dist;
{
  var next: Pid;
  if (d <= dist[me]) {
    dist[me] := d;
    while (*) {
      havoc next;
      assume next != me && next != from;
      call {:async} visit(next, d, me);
    }
  }
}

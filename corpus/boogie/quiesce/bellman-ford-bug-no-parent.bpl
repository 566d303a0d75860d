// The same without parents, so that fewer activations lead back to where they began.
//~ diverges 1 6
type Pid;

const weight: [Pid, Pid]int;
const infinity: int;

var dist: [Pid]int;

procedure {:entrypoint} Main()
  modifies dist;
{
  var root: Pid;
  assume (forall p: Pid :: dist[p] == infinity);
  call {:async} relax(root, 0, root);
}

procedure relax(me: Pid, w: int, from: Pid)
  modifies dist;
{
  var next: Pid;
  var d: int;
  d := w + weight[me, from];
  if (d <= dist[me]) {
    dist[me] := d;
    while (*) {
      havoc next;
      assume next != me && next != from;
      call {:async} relax(next, dist[me], me);
    }
  }
}

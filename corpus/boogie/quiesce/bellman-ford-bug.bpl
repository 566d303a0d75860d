// Shortest paths by relaxation in an arbitrary network. An equal distance counts as a better one.
type Pid;

const weight: [Pid, Pid]int;
const infinity: int;

var dist: [Pid]int;
var parent: [Pid]Pid;

procedure {:entrypoint} Main()
  modifies dist, parent;
{
  var root: Pid;
  assume (forall p: Pid :: dist[p] == infinity);
  call {:async} relax(root, 0, root);
}

procedure relax(me: Pid, w: int, from: Pid)
  modifies dist, parent;
{
  var next: Pid;
  var d: int;
  d := w + weight[me, from];
  if (d <= dist[me]) {
    dist[me] := d;
    parent[me] := from;
    while (*) {
      havoc next;
      assume next != me && next != from;
      call {:async} relax(next, dist[me], me);
    }
  }
}

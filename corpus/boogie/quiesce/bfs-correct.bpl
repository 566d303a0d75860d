// Breadth-first search of an arbitrary network.
type Pid;

const infinity: int;

var dist: [Pid]int;
var parent: [Pid]Pid;

procedure {:entrypoint} Main()
  modifies dist, parent;
{
  var root: Pid;
  assume (forall p: Pid :: dist[p] == infinity);
  call {:async} visit(root, 0, root);
}

procedure visit(me: Pid, d: int, from: Pid)
  modifies dist, parent;
{
  var next: Pid;
  if (d < dist[me]) {
    dist[me] := d;
    parent[me] := from;
    while (*) {
      havoc next;
      assume next != me && next != from;
      call {:async} visit(next, d + 1, me);
    }
  }
}

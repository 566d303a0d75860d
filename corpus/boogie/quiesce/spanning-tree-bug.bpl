// A spanning tree of an arbitrary network. The parent is set by a message of its own, so a node that has not
// handled it yet joins again and again.
//~ diverges 1 4
//~ none 1 3
//~ none 1 5 fair
type Pid;

var parent: [Pid]Pid;
var reported: [Pid]bool;

procedure {:entrypoint} Main()
  modifies parent, reported;
{
  var root: Pid;
  assume (forall p: Pid :: reported[p] == false);
  call {:async} search(root, root);
}

procedure search(me: Pid, from: Pid)
  modifies parent, reported;
{
  var next: Pid;
  if (!reported[me]) {
    call {:async} setParent(me, from);
    while (*) {
      havoc next;
      assume next != me && next != from;
      call {:async} search(next, me);
    }
  }
}

procedure setParent(me: Pid, from: Pid)
  modifies parent, reported;
{
  parent[me] := from;
  reported[me] := true;
}

// A spanning tree of an arbitrary network: a node joins once, and only then searches on.
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
    parent[me] := from;
    reported[me] := true;
    while (*) {
      havoc next;
      assume next != me && next != from;
      call {:async} search(next, me);
    }
  }
}

// SpanningTree-bug where a node forwards a search to one neighbour at most, so that no loop has to be unrolled.
//~ diverges 1 4
//~ none 1 4 fair
type Pid;

var parent: [Pid]Pid;
var reported: [Pid]bool;

procedure {:entrypoint} Main()
  modifies parent, reported;
{
  var root: Pid;
  assume (forall p: Pid :: !reported[p]);
  call {:async} search(root, root);
}

procedure search(me: Pid, from: Pid)
  modifies parent, reported;
{
  var next: Pid;
  if (!reported[me]) {
    call {:async} setParent(me, from);
    if (*) {
      havoc next;
      assume next != me && next != from;
      call {:async} search(next, me);
    }
  }
}

procedure setParent(me: Pid, p: Pid)
  modifies parent, reported;
{
  parent[me] := p;
  reported[me] := true;
}

// safe 4
type Node; const unique nil, a, b, c: Node;
var next: [Node]Node;
procedure main() modifies next;
{
  var at: Node, n: int;
  next[a], n := b, 0;
  next[b] := c;
  next[c] := nil;
  at := a;
  while (at != nil) { at := next[at]; n := n + 1; }
  assert n == 3;
}

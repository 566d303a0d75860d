// A lock-free stack on a heap of maps. Nodes are used again at once, so that a comparison may meet an old friend.
// check: dfw(0) recursion(2) exit holds
// check: dfw(1) recursion(2) exit fails
// check: child-first(2) recursion(2) exit fails

type Ref = int;
const null: Ref;
axiom null == 0;

var next: [Ref]Ref;
var allocated: [Ref]bool;
var top: Ref;

procedure {:atomic} compare_and_swap(expected: Ref, value: Ref) returns (ok: bool)
{
  ok := top == expected;
  if (ok) {
    top := value;
  }
}

procedure push(node: Ref)
{
  var old_top: Ref;
  var ok: bool;
  ok := false;
  while (!ok) {
    yield;
    old_top := top;
    next[node] := old_top;
    yield;
    call ok := compare_and_swap(old_top, node);
  }
}

procedure pop() returns (node: Ref)
{
  var after: Ref;
  var ok: bool;
  ok := false;
  while (!ok) {
    yield;
    node := top;
    if (node == null) {
      return;
    }
    after := next[node];
    yield;
    call ok := compare_and_swap(node, after);
  }
  // Who takes a node frees it; nobody else has it.
  assert allocated[node];
  allocated[node] := false;
}

procedure user()
{
  var a, b: Ref;
  call a := pop();
  call b := pop();
  if (a != null) {
    allocated[a] := true;
    call push(a);
  }
}

procedure thief()
{
  var a, b: Ref;
  call a := pop();
  call b := pop();
}

procedure main()
{
  allocated := (lambda r: Ref :: false);
  allocated[1] := true;
  allocated[2] := true;
  next[1] := 2;
  next[2] := null;
  top := 1;
  async call thief();
  async call user();
}

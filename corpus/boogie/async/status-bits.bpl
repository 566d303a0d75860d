// The same handlers with atomic changes.
// check: dfw(2) recursion(1) exit holds
// check: df(3) recursion(1) exit holds
// check: child-first(2) recursion(1) exit holds

type task a;

function {:bvbuiltin "bvor"} or8(bv8, bv8) returns (bv8);
function {:bvbuiltin "bvand"} and8(bv8, bv8) returns (bv8);
function {:bvbuiltin "bvnot"} not8(bv8) returns (bv8);

const unique READY: bv8;
const unique ERROR: bv8;
axiom READY == 1bv8;
axiom ERROR == 128bv8;

var status: bv8;

procedure {:atomic} raise(bits: bv8) returns (before: bv8)
{
  yield;
  before := status;
  yield;
  status := or8(before, bits);
}

procedure {:atomic} lower(bits: bv8) returns (before: bv8)
{
  yield;
  before := status;
  yield;
  status := and8(before, not8(bits));
}

procedure main()
{
  var a, b, c: task bv8;
  status := 64bv8;
  call {:async a} raise(READY);
  call {:async b} raise(ERROR);
  call {:async c} lower(64bv8);
  assume {:wait a} true;
  assume {:wait b} true;
  assume {:wait c} true;
  assert status == or8(READY, ERROR);
}

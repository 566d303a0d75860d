// Producers take their slots in an atomic section: nothing is lost.
// check: dfw(2) recursion(5) exit holds

type task a;

const CAPACITY: int;
axiom CAPACITY == 4;

var ring: [int]int;
var head, tail: int;
var taken: [int]bool;

procedure put(item: int) returns (slot: int)
{
  yield;
  call corral_atomic_begin();
  slot := tail;
  yield;
  assume slot - head < CAPACITY;
  ring[slot mod CAPACITY] := item;
  tail := slot + 1;
  call corral_atomic_end();
}

procedure get() returns (item: int)
{
  yield;
  assume head < tail;
  item := ring[head mod CAPACITY];
  head := head + 1;
  taken[item] := true;
}

procedure producer(first: int) returns (last: int)
{
  var slot: int;
  call slot := put(first);
  call slot := put(first + 1);
  last := slot;
}

procedure main()
{
  var one, two: task int;
  var item: int;
  head := 0;
  tail := 0;
  taken := (lambda i: int :: false);
  call {:async one} producer(10);
  call {:async two} producer(20);
  assume {:wait one} true;
  assume {:wait two} true;
  while (head < tail) {
    call item := get();
  }
  assert taken[10] && taken[11] && taken[20] && taken[21];
}

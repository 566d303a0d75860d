// A driver completes a request from its deferred procedure while the cancel routine completes it too.
// check: dfw(0) recursion(2) exit holds
// check: dfw(1) recursion(2) exit fails
// check: df(2) recursion(2) exit fails
// check: child-first(2) recursion(2) exit fails

type Irp = int;

var pending: [Irp]bool;
var cancelable: [Irp]bool;
var completions: [Irp]int;
var queued: Irp;
var device_busy: bool;

procedure complete(irp: Irp)
{
  yield;
  assert completions[irp] == 0;
  completions[irp] := completions[irp] + 1;
  pending[irp] := false;
}

procedure dispatch_read(irp: Irp)
{
  yield;
  pending[irp] := true;
  cancelable[irp] := true;
  queued := irp;
  yield;
  if (!device_busy) {
    device_busy := true;
    async call dpc();
  }
}

procedure dpc()
{
  var irp: Irp;
  yield;
  irp := queued;
  // Tests and clears in two steps: the other side may come in between.
  if (cancelable[irp]) {
    yield;
    cancelable[irp] := false;
    call complete(irp);
  }
  device_busy := false;
}

procedure cancel(irp: Irp)
{
  var was: bool;
  yield;
  was := cancelable[irp];
  yield;
  if (was) {
    cancelable[irp] := false;
    call complete(irp);
  }
}

procedure main()
{
  var irp: Irp;
  assume irp > 0;
  device_busy := false;
  completions[irp] := 0;
  cancelable[irp] := false;
  pending[irp] := false;
  async call dispatch_read(irp);
  yield;
  async call cancel(irp);
}

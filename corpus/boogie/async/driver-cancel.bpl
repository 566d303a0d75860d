// The same driver, where test and clear are one step: whoever clears the routine completes the request.
// check: dfw(3) recursion(2) exit holds
// check: df(3) recursion(2) exit holds
// check: child-first(3) recursion(2) exit holds

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

procedure {:atomic} exchange(irp: Irp) returns (was: bool)
{
  was := cancelable[irp];
  cancelable[irp] := false;
}

procedure dpc()
{
  var irp: Irp;
  var was: bool;
  yield;
  irp := queued;
  call was := exchange(irp);
  if (was) {
    call complete(irp);
  }
  device_busy := false;
}

procedure cancel(irp: Irp)
{
  var was: bool;
  yield;
  call was := exchange(irp);
  if (was) {
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

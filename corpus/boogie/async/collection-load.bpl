// A view model is shown before its data are loaded: the first C# example of the DFW paper, written
// anew. Waiting for the file costs DF delays that DFW does not need.
// ints: 0..1
// explore: df(0) exit holds
// explore: df(1) exit fails
// explore: df(2) continue holds
// explore: df(3) continue fails
// explore: dfw(0) exit holds
// explore: dfw(1) exit fails
// explore: dfw(0) continue holds
// explore: dfw(1) continue fails

type task a;
type object = int;

const null: object;
function obj(ref: object) returns (object);

var VM: object;
var categories: [object]object;
var view: object;

procedure InitComponent();
procedure SetFileName();
procedure Library() returns (r: object);
procedure Allocate() returns (ref: object);
procedure ReadObject() returns (r: object);
  ensures r != null;

procedure {:entrypoint} Main()
{
  call App();
  call {:async} OnLaunched();
  call {:async} LoadState(VM);
}

procedure App()
{
  var ref: object;
  assume {:yield} true;
  call InitComponent();
  assume {:yield} true;
  call ref := ViewModelNew();
  assume {:yield} true;
  VM := obj(ref);
}

procedure ViewModelNew() returns (ref: object)
{
  call ref := Allocate();
  call {:async} InitData(obj(ref));
}

procedure InitData(vm: object)
{
  var t: task object;
  assume {:yield} true;
  call SetFileName();
  assume {:yield} true;
  call {:async t} Deserialize(vm);
  assume {:yield} true;
  assume {:wait t} true;
}

procedure Deserialize(vm: object)
{
  var t: task object;
  var s, cs, l: object;
  assume {:yield} true;
  call l := Library();
  assume {:yield} true;
  call l := Library();
  assume {:yield} true;
  call l := Library();
  assume {:yield} true;
  call l := Library();
  assume {:yield} true;
  call {:async t} s := OpenStream();
  assume {:yield} true;
  assume {:wait s, t} true;
  assume {:yield} true;
  call l := Library();
  assume {:yield} true;
  call cs := ReadObject();
  assume {:yield} true;
  categories[vm] := cs;
}

procedure OpenStream() returns (s: object)
{
  call s := Library();
}

procedure OnLaunched()
{
  var l: object;
  assume {:yield} true;
  call l := Library();
  assume {:yield} true;
  call l := Library();
  assume {:yield} true;
  call l := Library();
  assume {:yield} true;
  call l := Library();
  assume {:yield} true;
  call l := Library();
  assume {:yield} true;
  call l := Library();
}

procedure LoadState(nav: object)
{
  var cs: object;
  assume {:yield} true;
  VM := nav;
  assume {:yield} true;
  cs := categories[VM];
  assume {:yield} true;
  assert cs != null;
  assume {:yield} true;
  view := cs;
}

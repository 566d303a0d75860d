// A page uses a bitmap that its state loader sets later: the third C# example of the DFW paper,
// written anew.
// ints: 0..1
// explore: df(1) exit holds
// explore: df(2) exit fails
// explore: df(4) continue holds
// explore: df(5) continue fails
// explore: dfw(0) exit holds
// explore: dfw(1) exit fails
// explore: dfw(0) continue holds
// explore: dfw(1) continue fails

type task a;
type object = int;

const null: object;
function concat(x: object, y: object) returns (object);

var pageKey: object;
var image: object;
var bmp: object;

procedure Library() returns (r: object);
procedure NewBitmap() returns (r: object);
  ensures r != null;

procedure {:entrypoint} Main()
{
  pageKey := null;
  call OnNavigatedTo();
}

procedure OnNavigatedTo()
{
  var t: task object;
  var l: object;
  assume {:yield} true;
  call Base();
  assume {:yield} true;
  call {:async t} PlaySound();
  assume {:yield} true;
  assume {:wait t} true;
  assume {:yield} true;
  assert bmp != null;
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

procedure Base()
{
  var depth, param: object;
  assume {:yield} true;
  if (pageKey != null)
  {
    return;
  }
  assume {:yield} true;
  call depth := Library();
  assume {:yield} true;
  pageKey := concat(depth, depth);
  assume {:yield} true;
  call param := Library();
  assume {:yield} true;
  call {:async} LoadState(param);
}

procedure PlaySound()
{
}

procedure Op() returns (r: object)
{
  call r := Library();
}

procedure LoadState(param: object)
{
  var t: task object;
  var b, r: object;
  assume {:yield} true;
  call b := NewBitmap();
  bmp := b;
  assume {:yield} true;
  call {:async t} r := Op();
  assume {:yield} true;
  assume {:wait r, t} true;
  assume {:yield} true;
  call {:async t} r := Op();
  assume {:yield} true;
  assume {:wait r, t} true;
  assume {:yield} true;
  call {:async t} r := Op();
  assume {:yield} true;
  assume {:wait r, t} true;
}

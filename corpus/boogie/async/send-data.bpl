// A fixed delay is taken for the arrival of a response: the second C# example of the DFW paper,
// written anew.
// ints: 0..1
// explore: df(1) exit holds
// explore: df(2) exit fails
// explore: df(1) continue holds
// explore: df(2) continue fails
// explore: dfw(0) exit holds
// explore: dfw(1) exit fails
// explore: dfw(0) continue holds
// explore: dfw(1) continue fails

type task a;
type object = int;

const null: object;
const url: object;

var rootPage: object;
var resp: object;

procedure Library() returns (r: object);
procedure ReadStream(s: object) returns (r: object);
  ensures r != null;

procedure {:entrypoint} Main()
{
  call Button();
}

procedure Button()
{
  var t: task object;
  var l: object;
  call {:async} SendData(url);
  if (*)
  {
    assume {:yield} true;
    call {:async t} Delay(2000);
    assume {:yield} true;
    assume {:wait t} true;
    assert resp != null;
    assume {:yield} true;
    call l := Library();
  }
  else
  {
    assume {:yield} true;
    call l := Library();
  }
}

procedure Delay(ms: int)
{
}

procedure SendData(address: object)
{
  var t: task object;
  var request, r, result: object;
  assume {:yield} true;
  call request := Library();
  call {:async t} r := GetResponse(request);
  assume {:yield} true;
  assume {:wait r, t} true;
  assume {:yield} true;
  call result := ReadStream(r);
  assume {:yield} true;
  resp := result;
}

procedure GetResponse(request: object) returns (r: object)
{
  call r := Library();
}

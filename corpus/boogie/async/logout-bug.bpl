// A page loads its data while the user logs out: the answer arrives after the session is gone.
// check: dfw(0) recursion(2) exit holds
// check: dfw(1) recursion(2) exit fails
// check: df(2) recursion(2) exit fails

type task a;
type Session;
type Page;

const unique nobody: Session;
function token(s: Session) returns (int);
axiom (forall s: Session :: s != nobody ==> token(s) > 0);

var session: Session;
var shown: [Page]bool;
var owner: [Page]Session;

procedure fetch(s: Session) returns (answer: int)
{
  yield;
  answer := token(s);
  yield;
}

procedure load(p: Page) returns (done: bool)
{
  var mine: Session;
  var answer: int;
  var request: task int;
  mine := session;
  done := false;
  if (mine != nobody) {
    call {:async request} answer := fetch(mine);
    assume {:wait answer, request} true;
    assert answer > 0;
    // The session may have changed while the request was under way.
    owner[p] := mine;
    shown[p] := true;
    assert session == mine;
    done := true;
  }
}

procedure logout()
{
  yield;
  session := nobody;
  shown := (lambda p: Page :: false);
}

procedure main()
{
  var p: Page;
  var loading: task bool;
  shown := (lambda q: Page :: false);
  assume session != nobody;
  call {:async loading} load(p);
  async call logout();
  yield;
}

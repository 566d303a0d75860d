// expect: holds
event eA; event eGo;
machine Main {
  var n: int;
  start state S {
    defer eA;
    entry { send this, eA; send this, eGo; }
    on eGo goto T;
    exit { receive { case eA: { n = 1; } } }
  }
  state T { entry { assert n == 1; } }
}

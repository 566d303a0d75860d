// expect: violated pending-transition
event eA; event eGo;
machine Main {
  start state S {
    entry { send this, eGo; send this, halt; }
    on eGo goto T;
    exit { receive { case eA: { } } }
  }
  state T { }
}

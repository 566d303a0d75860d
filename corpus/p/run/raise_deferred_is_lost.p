// expect: holds
event eA; event eGo;
machine Main {
  start state S { defer eA; entry { send this, eGo; raise eA; } on eGo goto R; }
  state R { on eA do { assert false; } }
}

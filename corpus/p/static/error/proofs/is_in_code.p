machine Main {
  var m: machine;
  start state S { entry { assert m is Main; } } //~ proof-only
}

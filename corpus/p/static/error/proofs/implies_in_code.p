machine Main {
  var a, b: bool;
  start state S { entry { a = a ==> b; b = a <==> b; } } //~ proof-only @33 //~ proof-only
}

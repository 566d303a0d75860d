machine Main {
  var a, b: bool;
  var iff: int;
  start state S { entry { a = 1<=2; b = !a!=b; iff = 1--1; } }
}

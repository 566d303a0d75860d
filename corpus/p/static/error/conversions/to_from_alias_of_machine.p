type W = Main;
event A;
machine Main {
  var w: W;
  var a: A;
  start state S { entry { a = w to A; } } //~ bad-cast
}

type W = Main;
machine Main {
  var m: machine;
  var a: any;
  start state S { entry { a = m to W; } } //~ bad-cast
}

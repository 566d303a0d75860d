machine Main {
  var x: int;
  var y, x: bool; //~ duplicate-name @10
  start state S { }
}

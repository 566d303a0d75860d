event A: int;
machine Main {
  start state S { entry { receive { case A: (x: int) { var x: int; } } } } //~ duplicate-name
}

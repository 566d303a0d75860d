event A: int;
machine Main {
  start state S { entry { var A: int; A = 1; assert A == 1; } }
}

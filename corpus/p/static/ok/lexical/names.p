machine _ { start state _ { } }
machine Main {
  var x1, x_2, _x, X1, state_, Machine: int;
  start state S0 { }
}

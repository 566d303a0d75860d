machine Main {
  var n: int;
  start state S { entry { n = choose(10000 + 1); n = choose(-1); } }
}

// expect: violated endless-handler
machine Main {
  var n: int;
  start state A { entry { n = (n + 1) % 3; raise halt; } on halt goto A; }
}

// expect: holds
machine Main {
  var n: int;
  start state S { entry { while ($) { n = (n + 1) % 3; } } }
}

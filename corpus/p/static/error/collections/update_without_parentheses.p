machine Main {
  var n: int;
  start state S { entry { n += 1; } } //~ collection-update @32
}

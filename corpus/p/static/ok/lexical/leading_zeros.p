machine Main {
  var n: int;
  start state S { entry { n = 007; n = 0; n = 2147483647; } }
}

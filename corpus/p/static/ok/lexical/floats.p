machine Main {
  var f: float;
  start state S { entry { f = 1.5; f = .25; f = 1 . 5; f = 00.10; } }
}

event E: int;
machine Main {
  start state S {
    entry {
      var sum: int;
      receive { case E: (x: int) { sum = sum + x; } }
      assert sum > 0;
    }
  }
}

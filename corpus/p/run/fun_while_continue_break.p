// expect: holds
machine Main {
  start state S {
    entry {
      var i: int; var sum: int;
      while (true) { i = i + 1; if (i % 2 == 0) { continue; } if (i > 7) { break; } sum = sum + i; }
      assert sum == 16;
    }
  }
}

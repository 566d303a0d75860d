// expect: holds
machine Main {
  start state S {
    entry {
      var a: int; var b: int;
      a = -7; b = 2;
      assert a / b == -3 && a % b == -1; b = -2; assert a / b == 3 && a % b == -1;
      a = 10; b = 3; assert a / b == 3 && a % b == 1;
    }
  }
}

// expect: holds
event eNext: int;
machine Main {
  start state S {
    entry { send this, eNext, 1; send this, eNext, 2; send this, eNext, 3; assert Sum(3) == 6; }
  }
  fun Sum(k: int): int {
    var x: int;
    if (k == 0) { return 0; }
    receive { case eNext: (n: int) { x = n; } }
    return x + Sum(k - 1);
  }
}

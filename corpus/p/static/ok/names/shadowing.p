event E: int;
fun F(): int { return 1; }
machine Main {
  var x: int;
  fun F(): bool { return true; }
  start state S {
    entry {
      var x: bool;
      x = F();
      receive { case E: (x: int) { var y: int; y = x; } }
    }
    on E do (x: int) { assert x == 1; }
  }
}

// expect: holds
machine Main {
  var n: int; var exits: int;
  start state A {
    entry { n = n + 1; if (n < 3) { goto A; } assert exits == 2; }
    exit { exits = exits + 1; }
  }
}

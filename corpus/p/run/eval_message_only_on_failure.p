// expect: holds
machine Main {
  var n: int;
  start state S { entry { assert true, Text(); assert n == 0; } }
  fun Text(): string { n = 1; return "x"; }
}

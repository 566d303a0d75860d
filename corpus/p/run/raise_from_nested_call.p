// expect: holds
event eA;
machine Main {
  var n: int;
  start state S {
    entry { Outer(); assert false, "not unwound"; }
    on eA do { assert n == 2; }
  }
  fun Outer() { n = n + 1; Inner(); n = 100; }
  fun Inner() { n = n + 1; raise eA; }
}

// expect: holds
event eA: int; event eB: int;
machine Main {
  var n: int;
  start state S { entry { send this, eA, 1; send this, eB, 2; } on eA, eB do Count; }
  fun Count(k: int) { n = n + k; assert n <= 3; }
}

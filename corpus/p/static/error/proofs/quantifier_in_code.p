machine Main {
  start state S { entry { assert forall (x: int) :: x == x; } } //~ proof-only @34
}

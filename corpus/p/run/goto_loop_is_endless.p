// expect: violated endless-handler
machine Main {
  start state A { entry { goto B; } }
  state B { entry { goto A; } }
}

// expect: holds
machine Main {
  start state A { entry { goto B, (id = 4, ok = true); } }
  state B { entry Begin; }
  fun Begin(p: (id: int, ok: bool)) { assert p.id == 4 && p.ok; }
}

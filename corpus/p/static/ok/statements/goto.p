machine Main {
  fun F() { goto Two, 2; }
  fun Named(b: bool) { }
  start state One { entry { if ($) goto Two, 1; if ($) goto Three, true; F(); goto One; } }
  state Two { entry (n: int) { goto One; } }
  state Three { entry Named; }
}

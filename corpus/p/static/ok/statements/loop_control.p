event A;
machine Main {
  start state S {
    entry {
      while (true) { if ($) { break; } { continue; } }
      receive { case A: { break; } }
      while (true) { receive { case A: { continue; } } }
    }
  }
}

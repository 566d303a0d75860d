event A;
machine Main {
  start state S {
    exit { send this, A; announce A; new W(); if ($) { print "x"; } receive { case A: { } } }
    on A goto S with { send this, A; assert choose(2) < 2; }
  }
}
machine W { start state S { } }

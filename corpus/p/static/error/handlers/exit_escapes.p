event A;
machine Main {
  start state S {
    exit { raise A; } //~ escapes-transition @12
    on A do { }
  }
  state T { exit { goto S; } } //~ escapes-transition @20
}

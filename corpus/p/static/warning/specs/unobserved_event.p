event A; event B; event C;
spec M observes A {
  start state S {
    on A do { }
    on B do { } //~ warning unobserved-event @8
    ignore C; //~ warning unobserved-event @12
  }
}
machine Main { start state S { } }

event A; event B; event C; event D;
machine Main {
  start state S {
    on A do { }
    on A goto S; //~ duplicate-action @8
    defer B;
    ignore B; //~ duplicate-action @12
    on C, C do { } //~ duplicate-action @11
    ignore D, D; //~ duplicate-action
    on null do { }
    on null goto S; //~ duplicate-action
  }
}

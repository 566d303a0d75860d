event A;
spec M observes A {
  start state S {
    defer A; //~ forbidden-in-spec @5
    on null do { } //~ forbidden-in-spec @8
  }
}

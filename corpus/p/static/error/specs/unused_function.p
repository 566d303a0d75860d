event A;
spec M observes A {
  fun Never(m: machine) { send m, A; } //~ forbidden-in-spec
  start state S { ignore A; }
}

event A;
machine W { start state S { } }
fun Sends(m: machine) { send m, A; }
fun Deep(m: machine) { Sends(m); }
fun Creates() { new W(); }
fun Chooses(): bool { return $; }
fun Waits() { receive { case A: { } } }
spec M observes A {
  fun Own() { Creates(); } //~ forbidden-in-spec @15
  start state S {
    on A do {
      Deep(null); //~ forbidden-in-spec @7
      if (Chooses()) { } //~ forbidden-in-spec @11
      Waits(); //~ forbidden-in-spec
      Own();
    }
  }
}

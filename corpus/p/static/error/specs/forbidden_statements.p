event A;
machine W { start state S { } }
spec M observes A {
  var m: machine; var b: bool; var n: int;
  start state S {
    entry {
      send m, A; //~ forbidden-in-spec @7
      announce A; //~ forbidden-in-spec @7
      new W(); //~ forbidden-in-spec
      m = new W(); //~ forbidden-in-spec @11
      b = $; //~ forbidden-in-spec @11
      b = $$; //~ forbidden-in-spec
      n = choose(3); //~ forbidden-in-spec
      m = this; //~ forbidden-in-spec
      receive { case A: { } } //~ forbidden-in-spec @7
    }
    ignore A;
  }
}

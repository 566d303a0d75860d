machine Worker { start state S { } }
spec Watch observes halt { start state S { } }
machine Main {
  var counter: int;
  fun F(): int { return 1; }
  start state S {
    entry {
      counter = countr; //~ unknown-name @17
      counter = F; //~ unknown-name
      counter = Worker; //~ unknown-name
      counter = Watch; //~ unknown-name
      counter = S; //~ unknown-name
      counter = G(1); //~ unknown-function @17
      G(nothing); //~ unknown-function @7 //~ unknown-name @9
    }
  }
}

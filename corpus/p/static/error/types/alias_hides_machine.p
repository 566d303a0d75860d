type W = Worker;
machine Worker { start state S { } }
machine Main {
  var a, b: W;
  var m: machine;
  start state S {
    entry {
      a = new Worker();
      a = b; //~ alias-hides-type
      m = a; //~ alias-hides-type
      send a, halt; //~ alias-hides-type @12
    }
  }
}

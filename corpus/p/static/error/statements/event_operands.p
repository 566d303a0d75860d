machine Main {
  var n: int; var m: machine;
  start state S {
    entry {
      send this, null; //~ null-event @18
      announce null; //~ null-event
      send this, n; //~ type-mismatch @18
      send this, Missing; //~ unknown-name
      send n, halt; //~ type-mismatch @12
      raise m; //~ type-mismatch
      raise null; //~ null-event
    }
  }
}

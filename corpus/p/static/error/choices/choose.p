machine Main {
  var b: bool; var n: int;
  start state S {
    entry {
      n = choose(10001); //~ too-many-choices @18
      b = choose(true); //~ not-a-collection
      n = choose("abc"); //~ not-a-collection
      n = choose(1.5); //~ not-a-collection
      b = choose(2); //~ type-mismatch
    }
  }
}

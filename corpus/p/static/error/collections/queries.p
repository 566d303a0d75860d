machine Main {
  var s: seq[int]; var n: int; var k: seq[int];
  start state S {
    entry {
      n = sizeof(n); //~ not-a-collection @18
      n = sizeof("abc"); //~ not-a-collection
      n = sizeof((1, 2)); //~ not-a-collection
      k = keys(s); //~ not-a-collection
      k = values(n); //~ not-a-collection
    }
  }
}

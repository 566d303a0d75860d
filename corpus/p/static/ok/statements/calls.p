fun Zero() { }
fun Two(a: int, b: any): int { return a; }
machine Main {
  var n: int; var x: any;
  start state S { entry { Zero(); Two(1, null); n = Two(Two(1, 2), "x"); x = Zero(); } }
}

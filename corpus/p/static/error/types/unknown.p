machine Main {
  var x: Missing; //~ unknown-type @10
  var y: seq[map[int, Absent]]; //~ unknown-type @23
  fun F(p: Nope): Never { return p; } //~ unknown-type @12 //~ unknown-type @19
  start state S { entry { x = 1; assert x; } }
}

enum Color { Red }
enum Fruit { Apple }
machine Main {
  var c: Color;
  var n: int;
  start state S {
    entry {
      c = Apple; //~ type-mismatch
      c = 0; //~ type-mismatch
      n = Red; //~ type-mismatch
    }
  }
}

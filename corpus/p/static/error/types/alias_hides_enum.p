enum Color { Red }
type C = Color;
machine Main {
  var a, b: C;
  var c: Color;
  start state S {
    entry {
      a = c;
      a = b; //~ alias-hides-type @11
      c = a; //~ alias-hides-type
    }
  }
}

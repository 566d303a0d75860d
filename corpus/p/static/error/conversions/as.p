enum Color { Red }
machine Main {
  var n: int; var f: float; var m: machine; var c: Color;
  start state S {
    entry {
      f = n as float; //~ bad-cast @11
      n = m as int; //~ bad-cast
      c = n as Color; //~ bad-cast
      n = "1" as int; //~ bad-cast
    }
  }
}

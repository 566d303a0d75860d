enum Color { Red }
event A;
event B;
eventset Ab = { A, B };
machine Main {
  var n: int; var f: float; var c: Color; var b: bool; var x: Ab; var a: A; var s: string;
  start state S {
    entry {
      c = 0 to Color; //~ bad-cast @11
      b = 1 to bool; //~ bad-cast
      f = c to float; //~ bad-cast
      n = b to int; //~ bad-cast
      n = "1" to int; //~ bad-cast
      x = a to Ab; //~ bad-cast
      x = 1 to Ab; //~ bad-cast
      s = 1 to string; //~ bad-cast
    }
  }
}

enum Color { Red }
event A;
event B;
eventset Ab = { A, B };
machine Main {
  var n: int; var f: float; var c: Color; var m: machine; var w: Main; var x: Ab; var a: A;
  start state S {
    entry {
      n = n to int; f = n to float; n = f to int; f = f to float; n = c to int; n = Red to int;
      w = m to Main; x = w to Ab; a = x to A; x = x to Ab;
    }
  }
}

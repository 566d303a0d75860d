machine Main {
  var a: any; var b: bool; var n: int; var f: float;
  start state S {
    entry { n = a as int + 1; b = 1 < f to int; n = -f to int; b = f + 0.5 to int == 2; n = f * 2.0 to int to int; }
  }
}

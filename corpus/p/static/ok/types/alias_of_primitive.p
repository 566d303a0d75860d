type Id = int; type Flag = bool; type Text = string; type Ratio = float;
machine Main {
  var i: Id; var f: Flag; var t: Text; var r: Ratio; var n: int;
  start state S {
    entry {
      i = 1; n = i; i = n + i * 2; f = i < n; t = t + "x"; r = r * 2.0; n = -i;
      if (f && !f) { print t; } while (f) { f = false; } assert f, t;
    }
  }
}

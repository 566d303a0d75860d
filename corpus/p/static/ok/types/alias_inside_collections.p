enum Color { Red }
type C = Color;
type W = Main;
machine Main {
  var s: seq[C]; var r: seq[Color]; var t: set[W]; var u: set[Main]; var p: (C, W); var q: (Color, Main);
  var c: C;
  start state S { entry { s = r; r = s; t = u; u = t; p = q; q = p; c = s[0]; r += (0, s[0]); c = Red; } }
}

machine Main {
  var s: seq[int]; var t: set[(int, int)]; var m: map[string, int]; var a: set[any]; var b: bool;
  start state S { entry { b = 1 in s; b = (1, 2) in t; b = "k" in m; b = null in a; b = !(1 in s); b = b == 1 in s; } }
}

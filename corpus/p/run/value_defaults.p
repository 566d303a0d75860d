// expect: holds
enum Color { RED = 5, GREEN = 3, BLUE = 9 }
machine Main {
  var b: bool; var i: int; var f: float; var s: string; var e: event; var m: machine; var a: any; var d: data;
  var q: seq[int]; var t: set[int]; var p: map[int, int]; var c: Color; var u: (int, bool);
  start state S { entry { assert !b && i == 0 && f == 0.0 && s == "" && e == null && m == null && a == null && d == null && sizeof(q) == 0 && sizeof(t) == 0 && sizeof(p) == 0 && c == GREEN; } }
}

machine Main {
  var s: seq[any]; var t: set[data]; var m: map[any, machine]; var p: (any, machine); var q: (a: any, b: event);
  var si: seq[int]; var ti: set[int]; var mi: map[int, Main];
  start state S {
    entry { s = si; t = ti; m = mi; p = (1, this); q = (a = 1, b = null); }
  }
}

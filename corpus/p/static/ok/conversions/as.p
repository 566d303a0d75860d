type F;
machine Main {
  var a: any; var n: int; var m: machine; var w: Main; var s: seq[any]; var si: seq[int]; var f: F;
  start state S {
    entry { n = a as int; n = n as int; w = m as Main; m = w as machine; si = s as seq[int]; f = a as F; a = n as any; }
  }
}

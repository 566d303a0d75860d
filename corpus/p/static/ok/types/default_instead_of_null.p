type F;
machine Main {
  var f: F; var w: Main; var s: seq[int];
  start state S { entry { f = default(F); w = default(Main); s = default(seq[int]); } }
}

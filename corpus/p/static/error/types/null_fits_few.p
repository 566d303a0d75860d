type F;
enum E { X }
machine Main {
  var i: int; var f: F; var e: E; var s: seq[int]; var t: (int, int); var w: Main; var g: string;
  start state S {
    entry {
      i = null; //~ type-mismatch
      f = null; //~ type-mismatch
      e = null; //~ type-mismatch
      s = null; //~ type-mismatch
      t = null; //~ type-mismatch
      w = null; //~ type-mismatch
      g = null; //~ type-mismatch
    }
  }
}

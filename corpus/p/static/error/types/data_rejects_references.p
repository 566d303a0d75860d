event A;
type F;
machine Main {
  var d: data;
  var m: machine;
  var f: F;
  var a: any;
  var s: seq[Main];
  var t: (int, any);
  start state S {
    entry {
      d = this; //~ type-mismatch @11
      d = m; //~ type-mismatch
      d = f; //~ type-mismatch
      d = a; //~ type-mismatch
      d = s; //~ type-mismatch
      d = t; //~ type-mismatch
    }
  }
}

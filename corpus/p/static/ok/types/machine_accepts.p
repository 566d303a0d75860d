event A;
interface I() receives A;
machine Main {
  var m: machine;
  var i: I;
  var e: A;
  start state S { entry { m = m; m = null; m = this; m = i; m = e; } }
}

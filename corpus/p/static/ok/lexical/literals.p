machine Main {
  var b: bool;
  var x: any;
  start state S { entry { b = true; b = false; x = null; } }
}

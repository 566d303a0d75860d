machine Main {
  var m: machine; var w: Main;
  fun Me(): Main { return this; }
  start state S { entry { m = this; w = this; w = Me(); send this, halt; } }
}

machine Main {
  var n: int;
  start state S { entry { assume n > 0; assume n > 0, "positive"; } } //~ proof-only @27 //~ proof-only
}

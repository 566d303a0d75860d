// expect: violated assertion alive
event eA: machine; event eB;
machine Main { start state S { entry { var w: machine; w = new W(); send w, eA, w; raise halt; } } }
machine W {
  start state S { on eA do (m: machine) { send m, eB; } on eB do { assert false, "alive"; } }
}

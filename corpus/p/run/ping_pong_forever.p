// expect: holds
event ePing: machine; event ePong;
machine Main {
  var w: machine;
  start state S { entry { w = new W(); send w, ePing, this; } on ePong do { send w, ePing, this; } }
}
machine W { start state S { on ePing do (m: machine) { send m, ePong; } } }

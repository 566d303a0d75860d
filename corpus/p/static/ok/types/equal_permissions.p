event A;
event B;
eventset Ab = { A, B };
eventset Ba = { B, A };
interface I() receives B, A;
machine W receives A, B; { start state S { ignore A, B; } }
machine Main {
  var x: Ab; var y: Ba; var i: I; var w: W;
  start state S { entry { x = y; y = i; i = w; w = x; } }
}

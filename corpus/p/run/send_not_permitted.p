// expect: violated permission
event eA;
machine Main { start state S { entry { var w: W; w = new W(); send w, halt; } } }
machine W receives eA; { start state S { ignore eA; } }

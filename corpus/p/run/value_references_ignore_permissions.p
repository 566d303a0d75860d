// expect: holds
event eA; event eB;
interface IA() receives eA;
machine Main {
  start state S {
    entry { var w: W; var i: IA; var x: machine; w = new W(); i = w to IA; x = w as machine; assert x == w as machine; assert (i as machine) == x; }
  }
}
machine W receives eA, eB; { start state S { ignore eA, eB; } }
test T [main=Main]: { Main, W };

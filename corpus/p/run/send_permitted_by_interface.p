// expect: violated permission
event eA; event eB;
interface IA() receives eA;
machine Main { start state S { entry { var i: IA; i = new W() to IA; send i, eA; send i, eB; } } }
machine W receives eA, eB; { start state S { ignore eA, eB; } }
test T [main=Main]: { Main, W };

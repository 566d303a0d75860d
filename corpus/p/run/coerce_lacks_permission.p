// expect: violated permission
event eA; event eB;
interface IB() receives eB;
machine Main { start state S { entry { var m: machine; var i: IB; m = new W(); i = m to IB; } } }
machine W receives eA; { start state S { ignore eA; } }
test T [main=Main]: { Main, W };

// expect: holds
event eA; event eB;
scenario Sc observes eA, eB { start state S { on eA goto H; ignore eB; } hot state H { on eB goto C; ignore eA; } cold state C { ignore eA, eB; } }
machine Main { start state S { entry { announce eA; } } }
test T [main=Main]: { Main };

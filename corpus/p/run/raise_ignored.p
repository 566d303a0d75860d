// expect: holds
event eA;
machine Main { start state S { ignore eA; entry { raise eA; } } }

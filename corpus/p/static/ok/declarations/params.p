param n, m: int;
param flag: bool;
machine Main { var x: int; start state S { entry { if (flag) { x = n + m; } } } }

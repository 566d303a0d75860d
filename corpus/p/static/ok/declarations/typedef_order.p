type A = seq[B];
type B = set[C];
type C = int;
machine Main { var a: A; start state S { } }

type A = B;
type B = C;
type C = A; //~ circular-type
type Fine = int;
machine Main { var x: A; start state S { entry { x = 5; } } }

machine Main { start state S { } }
module A = { }; //~ syntax-error @14
module B = (compose { Main }); //~ syntax-error
module C = { Main -> }; //~ syntax-error
module D = assert M { Main }; //~ syntax-error
module E = rename A B in C; //~ syntax-error

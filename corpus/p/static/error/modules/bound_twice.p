interface I() receives;
machine A { start state S { } }
machine B { start state S { } }
module M = { A -> I, B -> I }; //~ module-conflict @27
module N = { A, A }; //~ module-conflict @17
module O = (union { A }, { A }); //~ module-conflict @26

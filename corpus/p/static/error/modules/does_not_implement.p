event A; event B;
interface I() receives A, B;
interface J(int) receives A;
machine W receives A; { start state S { } }
module M = { W -> I }; //~ binding-mismatch @19
module N = { W -> J }; //~ binding-mismatch @19

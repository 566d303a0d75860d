event A;
interface I() receives A;
interface J() receives;
interface K() receives A;
machine W receives A; { start state S { } }
module M = rename I to J in { W -> I }; //~ module-conflict @24
module N = rename I to K in { W -> K }; //~ module-conflict @19
module O = rename I to K in { W -> I, W -> K }; //~ module-conflict @24

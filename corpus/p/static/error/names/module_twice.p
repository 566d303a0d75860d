machine Main { start state S { } }
module M = { Main };
module M = { Main }; //~ duplicate-name @8

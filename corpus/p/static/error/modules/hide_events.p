event A;
machine Main { start state S { } }
module M = hidee A in { Main }; //~ unsupported-module @12

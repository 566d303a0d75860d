// strict
machine Main { start state S { } }
axiom true; //~ proof-not-checked @1

interface I() receives;
machine Main { start state S { } }
test T [main=Main]: { Main -> I };

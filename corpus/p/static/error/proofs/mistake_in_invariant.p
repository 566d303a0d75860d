machine Main { start state S { } }
invariant broken: 1 + ; //~ syntax-error @23

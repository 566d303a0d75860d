event A;
scenario Never observes A { start state S { ignore A; } } //~ warning scenario-shape @10
machine Main { start state S { } }

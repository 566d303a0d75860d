event A;
scenario Always observes A { start cold state S { ignore A; } } //~ warning scenario-shape @10
machine Main { start state S { } }

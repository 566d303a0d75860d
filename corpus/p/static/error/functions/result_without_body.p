fun F(): int //~ syntax-error
machine Main { start state S { } }

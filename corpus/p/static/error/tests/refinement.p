machine Main { start state S { } }
test T [main=Main]: { Main } refines { Main }; //~ unsupported-module @38

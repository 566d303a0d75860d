event E;
monitor M { start state S { } } //~ removed-syntax

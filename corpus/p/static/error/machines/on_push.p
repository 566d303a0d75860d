event A;
machine Main { start state S { on A push T; } state T { } } //~ removed-syntax @37

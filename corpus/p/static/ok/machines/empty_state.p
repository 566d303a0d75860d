machine Main { start state S { } state T { } }

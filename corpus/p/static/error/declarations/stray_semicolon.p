enum Color { Red, Green }; //~ stray-semicolon @26
machine Main { start state S { } }

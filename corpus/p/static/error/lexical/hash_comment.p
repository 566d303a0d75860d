# a comment of another language //~ unknown-character
machine Main { start state S { } }

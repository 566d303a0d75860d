// verifier
event sent: int; //~ legacy-name
machine Main { start state S { ignore sent; } }

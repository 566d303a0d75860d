event A //~ syntax-error @8
event B;
machine Main { start state S { ignore B; } }

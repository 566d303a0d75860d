module A = (union B, { Main });
module B = A; //~ circular-module @12
machine Main { start state S { } }

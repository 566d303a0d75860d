machine Main { start state S { } }
/* never closed //~ unterminated-comment
machine Other { start state S { } }

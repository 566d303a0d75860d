event A;
event B: int;
machine W receives A; sends B; receives B, halt; sends; { start state S { ignore A, B; } }
machine N receives; sends; { start state S { } }
machine Main { start state S { } }

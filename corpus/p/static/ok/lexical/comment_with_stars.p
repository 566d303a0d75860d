/***** stars ***/
/**/
machine Main { start state S { } }

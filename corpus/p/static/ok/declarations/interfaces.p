event A;
interface Plain() receives A, halt;
interface Empty() receives;
interface Takes((int, bool)) receives A;
machine Main { var i: Plain; var j: Empty; start state S { } }

// expect: violated null-element
machine Main { start state S { entry { var m: map[any, int]; m[null] = 1; } } }

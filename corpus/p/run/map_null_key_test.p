// expect: violated null-element
machine Main { start state S { entry { var m: map[any, int]; assert !(null in m); } } }

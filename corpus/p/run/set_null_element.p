// expect: violated null-element
machine Main { start state S { entry { var s: set[any]; s += (null); } } }

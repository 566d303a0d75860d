event A;
machine Main { var e: event; start state S { entry { e = A; e = halt; e = null; e = e; } } }

interface I() receives;
machine Main { start state S { entry { new I(); } } } //~ not-closed @9

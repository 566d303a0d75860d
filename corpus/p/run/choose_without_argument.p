// expect: violated assertion true
machine Main { start state S { entry { assert !choose(), "true"; } } }

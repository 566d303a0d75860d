// expect: violated endless-handler
machine Main { start state S { entry { while ($ || true) { } } } }

// expect: holds
machine Main { start state S { entry { var s: string; print "hello"; print format("{0} {1}", this, 3); s = "x"; print s; } } }

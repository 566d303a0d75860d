// expect: violated assertion W(2) W(3)
machine Main { start state S { entry { var a: machine; var b: machine; a = new W(); b = new W(); assert a == b, format("{0} {1}", a, b); } } }
machine W { start state S { } }

machine A sends; { start state S { entry { new C(); } } }
machine B sends; { start state S { entry { new C(); } } }
machine C sends; { start state S { } }
module M = (compose { A }, { B }); //~ module-conflict

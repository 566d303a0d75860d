event E;
spec M observes E { start state S { ignore E; } }
machine A { start state S { } }
machine B { start state S { } }
module X = assert M, M in { A }; //~ module-conflict @22
module Y = assert M in (assert M in { A }); //~ module-conflict
module Z = (union (assert M in { A }), (assert M in { B })); //~ module-conflict

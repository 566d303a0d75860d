machine Main { start state S { } }
spec M observes halt { start state S { } }
module A = Missing; //~ unknown-module @12
module B = { Nobody }; //~ unknown-interface @14
module C = { Main -> Nothing }; //~ unknown-interface @22
module D = assert Nospec in { Main }; //~ unknown-spec @19
module E = assert Main in { Main }; //~ unknown-spec @19
module F = { M }; //~ unknown-interface @14
module G = rename Main to Nowhere in { Main }; //~ unknown-interface
module H = hidei Absent in { Main }; //~ unknown-interface

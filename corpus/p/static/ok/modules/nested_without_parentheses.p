machine A { start state S { } }
machine B { start state S { } }
machine C { start state S { } }
test T [main=A]: union { A }, union { B }, { C };

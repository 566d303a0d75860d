event A;
event B;
eventset Both = { A, B };
eventset WithHalt = { halt, A, A };
machine Main { var m: Both; var n: WithHalt; start state S { } }

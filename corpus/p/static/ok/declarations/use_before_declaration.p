machine Main { var w: Worker; start state S { entry { w = new Worker(One); send w, Go, Two; } } }
machine Worker { start state Init { entry (n: Number) { } ignore Go; } }
event Go: Number;
enum Number { One, Two }

event Bare;
event Number: int;
event Pair: (int, bool);
event Named: (id: int, who: machine);
event Ref: Main;
machine Main { start state S { ignore Bare, Number, Pair, Named, Ref; } }

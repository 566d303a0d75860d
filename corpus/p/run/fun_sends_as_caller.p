// expect: holds
event eA: machine;
fun Tell(to_: machine, me: machine) { send to_, eA, me; }
machine Main { start state S { entry { Tell(this, this); } on eA do (m: machine) { assert m == this; } } }

event send; //~ reserved-word @7
machine Main { var type: int; start state S { } } //~ reserved-word @20

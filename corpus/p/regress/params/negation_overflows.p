// The smallest 64-bit integer has no negation: this was an arithmetic overflow in the assumption.
param n: int;
machine Main { start state S { } }
test param (n in [2147483647]) assume -((n + 1) * (n + 1) * 2) < 0 T [main=Main]: { Main };

event Ping: int;
machine Main { start state S { ignore Ping; } }
invariant positive: forall (e: Ping) :: inflight e ==> e.x > 0; //~ note proof-not-checked @1
axiom true;
init-condition forall (m: machine) :: m is Main;
pure limit(): int;
pure twice(x: int): int = x + x;
Lemma small { invariant one: true; invariant two: 1 < 2; }
Theorem large { invariant three: forall (m: machine, e: event) :: sent e && e targets m <==> exists new (k: machine) :: k == m; }
Proof { prove *; }
Proof named { prove small using large except positive; prove default; prove small, large using *; }

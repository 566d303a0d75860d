event Bare; event Num: int;
machine Main {
  start state S { on Bare goto T; on Num goto U with (n: int) { } }
  state T { on Num goto V; entry { } }
  state U { entry (n: int) { } on Bare goto V; }
  state V { entry (a: any) { } }
}

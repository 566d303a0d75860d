event Bare; event Num: int; event Flag: bool;
machine Main {
  start state S {
    entry {
      receive { case Num: { } } //~ receive-case @22
      receive { case Bare: (n: int) { } } //~ receive-case @29
      receive { case Num: (b: bool) { } } //~ receive-case
      receive { case Num, Flag: (n: int) { } } //~ receive-case
      receive { case Missing: { } } //~ unknown-event @22
      receive { case Bare: { } case Num: (n: int) { } case Bare: { } } //~ duplicate-action @60
      receive { case Bare, Bare: { } } //~ duplicate-action
    }
  }
}

event Bare; event Num: int; event Any: any;
machine Main {
  fun F(): int {
    var r: int;
    receive {
      case Bare: { r = 1; }
      case Num: (n: int) { r = n; }
      case Any: (x: any) { if (x == null) { return; } }
    }
    return r;
  }
  start state S {
    entry {
      receive { case Bare, halt: { } }
      receive { case Bare: (x: any) { } case Num: (x: data) { } }
      receive { case Bare: { receive { case Num: (n: int) { goto S; } } } }
      receive { case Num: (n: int) { raise Bare; } }
      if (F() == 1) { }
    }
    ignore Bare;
  }
}

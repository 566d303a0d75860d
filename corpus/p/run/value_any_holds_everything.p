// expect: holds
enum E { X = 4 }
machine Main {
  start state S {
    entry {
      var a: any;
      a = 1; assert a == 1 && a as int == 1;
      a = X; assert a == 4;
      a = "s"; assert (a as string) == "s";
      a = (1, 2); assert a == (1, 2);
      a = 1; assert a != 1.0;
      a = null; assert a == null;
    }
  }
}

event A;
machine First //~ syntax-error @14
  var n: int;
  start state S { }
}
machine Second {
  start state S //~ syntax-error @16
    entry { }
  }
}
machine Third {
  var n: int;
  start state S {
    entry //~ syntax-error @10
      n = 1;
      n = 2;
    }
    on A do //~ syntax-error @12
      print "a";
    }
  }
  fun F(): int //~ syntax-error @15
    return 1;
  }
  fun G() //~ syntax-error @10
    n = 2;
  }
  fun H() {
    receive //~ syntax-error @12
      case A: { }
    }
  }
}

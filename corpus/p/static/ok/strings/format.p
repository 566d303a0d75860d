machine Main {
  var s: string;
  start state S {
    entry {
      s = format("no arguments");
      s = format("{0} and {1}", 1, true);
      s = format("{1} skips one", 1, s);
      s = format("{0}{0}{{{0}}}", this);
    }
  }
}

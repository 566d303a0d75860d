// expect: holds
event eHello: string;
machine Main {
  var known: map[string, int];
  var names: set[string];
  start state S {
    entry {
      known[format("{0}", this)] = 1;
      names += (format("<{0}>", this));
      assert "Main(1)" in known && known["Main(1)"] == 1 && "<Main(1)>" in names;
      names += ("<" + format("{0}", this) + ">");
      assert sizeof(names) == 1;
      new Other(this);
    }
    on eHello do (text: string) { assert text == "I am Other(2), you are Main(1)", text; }
  }
}
machine Other {
  start state S { entry (peer: machine) { send peer, eHello, format("I am {0}, you are {1}", this, peer); } }
}

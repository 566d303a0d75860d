event eValue: int;
machine Main {
  var s: seq[int];
  var f: float;
  start state S {
    entry {
      s = 3;
      f = 1;
      send this, eValue, "three";
      goto Tt;
    }
    on eValue do (text: string) { }
  }
  state T { }
}
spec Watch observes eValue {
  start state S { on eValue do { send this, halt; } }
}

// expect: holds
event eA: int; event eB; event eGo;
machine Main {
  var seen: seq[int];
  start state Wait {
    defer eA;
    entry { send this, eA, 1; send this, eB; send this, eA, 2; send this, eGo; }
    on eB do { }
    on eGo goto Take;
  }
  state Take {
    on eA do (n: int) {
      seen += (sizeof(seen), n);
      if (sizeof(seen) == 2) { assert seen[0] == 1 && seen[1] == 2; }
    }
  }
}

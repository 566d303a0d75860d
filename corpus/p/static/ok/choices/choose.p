machine Main {
  var b: bool; var n: int; var s: seq[string]; var t: set[int]; var m: map[bool, int]; var x: string;
  start state S {
    entry { b = choose(); n = choose(10); n = choose(10000); n = choose(n); x = choose(s); n = choose(t); b = choose(m); b = $; b = $$; }
  }
}

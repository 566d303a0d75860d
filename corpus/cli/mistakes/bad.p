event ePing: machine;
event ePong

machine Main {
  var n: int;
  start state S {
    entry {
      n = n + "1";
      n += 1;
      send this, ePing;
      goto T
    }
    on ePing goto Missing;
    on eUnknown do { }
  }
}

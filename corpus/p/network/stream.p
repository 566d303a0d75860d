// Numbers in a row from one machine to another.
event eNumber: int;

machine Main {
  start state Run {
    entry {
      var sink: machine; var i: int;
      sink = new Sink();
      while (i < 3) { send sink, eNumber, i; i = i + 1; }
    }
  }
}

machine Sink {
  var next: int;
  start state Run {
    on eNumber do (n: int) { assert n == next, "a number overtook another"; next = next + 1; }
  }
}

// Two senders, two receivers, and each sender begins with another receiver. One inbox per receiver keeps the order of
// all sends, so the receivers cannot both see the later send first. Networks that order less can show that.
event eFromA: machine; event eFromB: machine;
event eFirst: (place: int, isA: bool);

machine Main {
  var firsts: map[int, bool];
  start state Run {
    entry {
      var one: machine; var two: machine;
      one = new Receiver((owner = this, place = 1));
      two = new Receiver((owner = this, place = 2));
      new A((first = one, second = two));
      new B((first = two, second = one));
    }
    on eFirst do (p: (place: int, isA: bool)) {
      firsts[p.place] = p.isA;
      if (sizeof(firsts) == 2) {
        assert firsts[1] || !firsts[2], "each receiver saw the second send first";
      }
    }
  }
}

machine A {
  start state Run {
    entry (p: (first: machine, second: machine)) { send p.first, eFromA, this; send p.second, eFromA, this; }
  }
}

machine B {
  start state Run {
    entry (p: (first: machine, second: machine)) { send p.first, eFromB, this; send p.second, eFromB, this; }
  }
}

machine Receiver {
  var owner: machine; var place: int;
  start state Waiting {
    entry (p: (owner: machine, place: int)) { owner = p.owner; place = p.place; }
    on eFromA goto Done with { send owner, eFirst, (place = place, isA = true); }
    on eFromB goto Done with { send owner, eFirst, (place = place, isA = false); }
  }
  state Done { ignore eFromA, eFromB; }
}

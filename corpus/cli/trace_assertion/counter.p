// A reader learns: both workers read the counter as 0 before either wrote it back, so one increment is gone.
event eRead: Worker;
event eValue: int;
event eWrite: int;
event eDone;

machine Counter {
  var value: int;
  start state Serve {
    on eRead do (from: Worker) { send from, eValue, value; }
    on eWrite do (written: int) { value = written; }
  }
}

machine Worker {
  var counter: Counter;
  var boss: Main;
  start state Begin {
    entry (given: (counter: Counter, boss: Main)) {
      counter = given.counter;
      boss = given.boss;
      send counter, eRead, this;
    }
    on eValue do (value: int) {
      send counter, eWrite, value + 1;
      send boss, eDone;
    }
  }
}

machine Main {
  var counter: Counter;
  var nDone: int;
  start state Begin {
    entry {
      counter = new Counter();
      new Worker((counter = counter, boss = this));
      new Worker((counter = counter, boss = this));
    }
    on eDone do {
      nDone = nDone + 1;
      if (nDone == 2) { send counter, eRead, this as Worker; }
    }
    on eValue do (value: int) {
      assert value == nDone, format("{0} increments, and the counter is {1}", nDone, value);
    }
  }
}

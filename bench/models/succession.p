// A chain of machines: each makes the next and passes the rest of the work on to it.
event eBaton: int;

machine Main {
  start state Init { entry { send new Runner(), eBaton, 4000; } }
}

machine Runner {
  start state Wait {
    on eBaton do (left: int) {
      if (left > 0) { send new Runner(), eBaton, left - 1; }
      assert left >= 0;
    }
  }
}

test Succession [main = Main]: { Main, Runner };

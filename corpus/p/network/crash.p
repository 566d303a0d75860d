// A ping is answered unless the server stops; meanwhile a clock ticks for ever.
event ePing: machine; event ePong; event eTick;

spec Answered observes ePing, ePong {
  start state Calm { on ePing goto Waiting; ignore ePong; }
  hot state Waiting { on ePong goto Calm; ignore ePing; }
}

machine Main {
  start state Run {
    entry { new Clock(); send new Server(), ePing, this; }
    ignore ePong;
  }
}

machine Server {
  start state Run { on ePing do (client: machine) { send client, ePong; } }
}

machine Clock {
  start state Run {
    entry { send this, eTick; }
    on eTick do { send this, eTick; }
  }
}

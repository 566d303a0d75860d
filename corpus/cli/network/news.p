event eData; event eTell; event eNews;
event eRequest: machine; event eReply;

machine Teller {
  start state Run {
    entry {
      var reader: machine; var relay: machine;
      reader = new Reader();
      relay = new Relay(reader);
      send reader, eData;
      send relay, eTell;
    }
  }
}

machine Relay {
  var reader: machine;
  start state Run {
    entry (p: machine) { reader = p; }
    on eTell do { send reader, eNews; }
  }
}

machine Reader {
  var hasData: bool;
  start state Run {
    on eData do { hasData = true; }
    on eNews do { assert hasData, "news of data that are not there"; }
  }
}

machine Client {
  start state Run {
    entry {
      send new Server(), eRequest, this;
      receive { case eReply: {} }
    }
    ignore eReply;
  }
}

machine Server {
  var n: int;
  start state Run {
    on eRequest do (client: machine) {
      n = n + 1;
      assert n == 1, "the request came twice";
      send client, eReply;
    }
  }
}

test tcNews [main = Teller]: { Teller, Relay, Reader };
test tcRequest [main = Client]: { Client, Server };

// The data go straight to the reader, the news of them through a third machine. Causal order keeps the news behind the
// data; order between two machines alone does not.
event eData; event eTell; event eNews;

machine Main {
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

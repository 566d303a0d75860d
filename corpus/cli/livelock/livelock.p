// Two polite machines pass the door to each other for ever.
event eAfterYou;
event eThrough;
spec SomeoneGoes observes eThrough {
  start hot state Waiting { on eThrough goto Gone; }
  cold state Gone { ignore eThrough; }
}
machine Main {
  var other: machine;
  start state S {
    entry { other = new Polite(this); send other, eAfterYou; }
    on eAfterYou do { send other, eAfterYou; }
  }
}
machine Polite {
  var other: machine;
  start state S {
    entry (first: machine) { other = first; }
    on eAfterYou do { send other, eAfterYou; }
  }
}

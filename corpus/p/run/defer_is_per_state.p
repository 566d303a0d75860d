// expect: violated unhandled-event 'eA' that cannot be handled
event eA; event eGo;
machine Main {
  start state Wait {
    defer eA;
    entry { send this, eA; send this, eGo; }
    on eGo goto Other;
  }
  state Other { }
}

// strict
event eGo;
machine Main {
  var scenario: int; //~ legacy-name
  start state Init {
    entry { scenario = 1; assert scenario == 1; send this, eGo; }
    on eGo do { }
  }
}
scenario Seen observes eGo { start state A { on eGo goto B; } cold state B { ignore eGo; } }

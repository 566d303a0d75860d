// expect: violated assertion B first
event eGo; event eSeen: int;
spec M observes eSeen { var n: int; start state S { on eSeen do (k: int) { n = n + 1; if (n == 1) { assert k == 1, "B first"; } } } }
machine Main {
  start state S { entry { var c: machine; var b: machine; c = new P(1); b = new P(2); send c, eGo; send b, eGo; } }
}
machine P { var k: int; start state S { entry (n: int) { k = n; } on eGo do { announce eSeen, k; } } }

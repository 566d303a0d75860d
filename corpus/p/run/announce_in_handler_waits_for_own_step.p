// expect: holds
event eA; event eGo;
spec M observes eA { var n: int; start state S { on eA do { n = n + 1; assert n <= 2; } } }
machine Main {
  start state S { entry { send new W(), eGo; send new W(), eGo; } }
}
machine W { start state S { on eGo do { announce eA; } } }

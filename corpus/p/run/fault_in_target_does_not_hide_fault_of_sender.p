// expect: violated assertion sender
event eA;
machine Main { start state S { entry { send new W(), eA; assert false, "sender"; } } }
machine W { start state S { on eA do { } } }

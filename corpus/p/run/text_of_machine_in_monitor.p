// expect: violated assertion from Worker(3)
event eName: any;
spec Watch observes eName {
  start state S { on eName do (name: any) { assert name != "Worker(3)", format("from {0}", name); } }
}
machine Main { start state S { entry { new Worker(); new Worker(); } } }
machine Worker { start state S { entry { announce eName, format("{0}", this); } } }
test T [main=Main]: assert Watch in { Main, Worker };

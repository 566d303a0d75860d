// expect: violated hot-at-end 'M' detected liveness bug in hot state 'Waiting'
event eReq; event eDone;
spec M observes eReq, eDone {
  start cold state Idle { on eReq goto Waiting; ignore eDone; }
  hot state Waiting { on eDone goto Idle; ignore eReq; }
}
machine Main { start state S { entry { if ($) { announce eReq; } } } }

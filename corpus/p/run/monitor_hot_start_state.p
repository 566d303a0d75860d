// expect: violated hot-at-end
event eDone;
spec M observes eDone { start hot state Waiting { on eDone goto Idle; } cold state Idle { ignore eDone; } }
machine Main { start state S { entry { if ($) { announce eDone; } } } }

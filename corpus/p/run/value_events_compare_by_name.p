// expect: holds
event eA: int; event eB: int;
machine Main {
  start state S { entry { var e: event; var s: set[event]; e = eA; assert e == eA && e != eB; s += (eA); assert e in s && !(eB in s); } }
}

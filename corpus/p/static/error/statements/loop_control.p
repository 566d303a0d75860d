machine Main {
  fun F() { continue; } //~ outside-loop @13
  start state S { entry { break; if (true) { break; } else continue; } } //~ outside-loop @27 //~ outside-loop //~ outside-loop
}

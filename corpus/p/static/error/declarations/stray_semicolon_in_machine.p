machine Main {
  fun F() { }; //~ stray-semicolon
  start state S { }; //~ stray-semicolon
}

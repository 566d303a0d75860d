fun F() { }
fun F(x: int) { } //~ duplicate-name @5
machine Main {
  fun G() { }
  fun G() { } //~ duplicate-name
  start state S { }
}

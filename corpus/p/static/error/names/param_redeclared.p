param n: int;
fun F(n: int) { } //~ param-misuse @7
machine Main {
  var n: int; //~ param-misuse @7
  start state S { entry { var n: int; } } //~ param-misuse @31
}

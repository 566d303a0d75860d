machine Main {
  var t: (int, int);
  start state S { entry { t.99999999999 = 1; } } //~ integer-too-large
}

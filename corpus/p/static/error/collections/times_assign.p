machine Main {
  var n: int;
  start state S { entry { n *= 2; n /= 2; n %= 2; } } //~ syntax-error @29 //~ syntax-error //~ syntax-error
}

machine Main {
  start state S { entry { print "x = {0}", 5; } } //~ removed-syntax @42
}

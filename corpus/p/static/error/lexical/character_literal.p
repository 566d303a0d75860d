machine Main {
  var s: string;
  start state S { entry { s = 'a'; s = 'bc'; } } //~ unknown-character @31 //~ unknown-character @40
}

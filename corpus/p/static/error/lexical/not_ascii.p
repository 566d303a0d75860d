machine Main {
  var größe: int; //~ unknown-character @9
  start state S { }
}

machine Main {
  var a: (int); var b: (id: int);
  start state S { entry { a = (5,); b = (id = 5,); assert a.0 == b.id; } }
}

event A;
enum E { X }
machine Main {
  var d: data;
  start state S { entry { d = 1; d = null; d = A; d = X; d = "s"; d = (1, true); d = default(seq[E]); d = d; } }
}

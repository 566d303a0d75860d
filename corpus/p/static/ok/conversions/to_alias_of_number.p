type Id = int;
type Ratio = float;
enum Color { Red }
type C = Color;
machine Main {
  var i: Id; var r: Ratio; var n: int; var c: C;
  start state S { entry { i = r to Id; r = i to Ratio; n = r to int; n = c to int; } }
}

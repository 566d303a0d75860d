enum Color { Red, Green, Blue }
enum Level { Low = 1, High = 10, Middle = 5 }
enum One { Only }
machine Main {
  var c: Color;
  var l: Level;
  start state S { entry { c = Blue; l = Middle; assert c == Blue; assert c to int == 2; } }
}

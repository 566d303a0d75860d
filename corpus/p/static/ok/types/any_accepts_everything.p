event A;
enum E { X }
type F;
machine Main {
  var a: any;
  var f: F;
  start state S {
    entry {
      a = 1; a = 1.5; a = true; a = "s"; a = null; a = A; a = halt; a = X; a = this; a = f;
      a = (1, 2); a = (x = 1, y = 2); a = default(map[int, int]); a = a;
    }
  }
}

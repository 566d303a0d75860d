type Handle;
fun Open(name: string): Handle;
fun Close(h: Handle);
fun Spawn(): machine creates Main;
machine Main {
  var h: Handle;
  fun Local(x: int): int;
  start state S { entry { h = Open("f"); Close(h); assert Local(1) == 1; } }
}

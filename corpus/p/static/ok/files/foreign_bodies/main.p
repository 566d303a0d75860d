type Handle;
fun Open(name: string): Handle;
machine Main {
  fun Close(h: Handle);
  start state S { entry { Close(Open("file")); } }
}

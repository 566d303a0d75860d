event A;
fun H() { }
machine Main {
  start state S {
    entry H; //~ bad-handler @11
    exit H; //~ bad-handler @10
    on A do H; //~ bad-handler @13
  }
}

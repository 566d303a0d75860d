event A;
machine Main {
  fun H();
  start state S { entry H; on A do H; } //~ bad-handler @25 //~ bad-handler @36
}

event A; event B; event C; event D: int; event E; event F;
machine Main {
  fun Enter() { }
  fun Leave() { }
  fun Handle(n: int) { }
  fun Passing() { }
  start hot state One {
    entry Enter;
    exit Leave;
    defer A, halt;
    ignore B;
    on C do { }
    on D do Handle;
    on E goto Two;
    on F goto Two with Passing;
    on null do { }
  }
  cold state Two {
    entry { }
    exit { }
    on A, B do (x: any) { }
    on D goto One with (n: int) { }
    on null, C goto One;
    on halt do { }
  }
}

event A;
machine Main {
  fun Deep() { Deeper(); }
  fun Deeper() { goto S; }
  start state S {
    on A goto S with { Deep(); } //~ escapes-transition @24
    on null goto S with Deeper; //~ escapes-transition @25
    exit Deep; //~ escapes-transition @10
  }
}

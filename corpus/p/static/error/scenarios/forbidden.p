event A;
scenario Bad observes A {
  start state S { defer A; } //~ forbidden-in-spec
  cold state T { on null goto S; entry { if ($) { } } } //~ forbidden-in-spec //~ forbidden-in-spec
}

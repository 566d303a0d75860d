// expect: violated assertion Assertion Failed: assert_place.p:3:39 here
machine Main {
  start state S { entry { var x: int; assert x == 1, "here"; } }
}

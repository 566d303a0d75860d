// expect: violated assertion it is Main(1)
machine Main {
  start state S { entry { assert format("{0}", this) != "Main(1)", format("it is {0}", this); } }
}

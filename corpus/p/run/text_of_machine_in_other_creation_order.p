// expect: violated assertion Grandchild(4)
machine Main {
  start state S { entry { new Child(); new Other(); } }
}
machine Child { start state S { entry { new Grandchild(); } } }
machine Other { start state S { } }
machine Grandchild {
  start state S { entry { assert format("{0}", this) != "Grandchild(4)", format("{0}", this); } }
}

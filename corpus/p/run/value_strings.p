// expect: holds
machine Main {
  start state S {
    entry { var s: string; s = "ab"; s = s + "cd"; assert s == "abcd" && "ab" < s && s >= "abc"; assert format("{0}-{1}", 1, "x") == "1-x"; }
  }
}

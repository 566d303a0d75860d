machine Main {
  var s: string;
  var b: bool;
  start state S { entry { s = "a" + s; b = "a" < s && s <= "b" || s > "c" || s >= "d" || s == ""; } }
}

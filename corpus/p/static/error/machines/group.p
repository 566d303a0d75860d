machine Main {
  group G { start state S { } } //~ removed-syntax
}

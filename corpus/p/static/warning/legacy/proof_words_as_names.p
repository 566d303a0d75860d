event sent: int; //~ warning legacy-name @7
machine Main {
  var targets, exists: set[machine]; //~ warning legacy-name //~ warning legacy-name
  var is: bool; //~ warning legacy-name
  fun pure(invariant: int): int { return invariant; } //~ warning legacy-name //~ warning legacy-name
  start state init { entry { is = this in targets; assert pure(1) == 1; send this, sent, 1; } ignore sent; }
}

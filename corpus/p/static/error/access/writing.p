event A;
enum E { X }
machine Main {
  var z: set[int]; var s: seq[int];
  fun F(): int { return 1; }
  start state S {
    entry {
      z[0] = 1; //~ not-assignable @7
      A = 1; //~ not-assignable @7
      X = 1; //~ not-assignable
      F = 1; //~ not-assignable
      missing = 1; //~ unknown-name
      s[true] = 1; //~ type-mismatch
      this = null; //~ syntax-error
    }
  }
}

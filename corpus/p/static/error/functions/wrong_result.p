fun F(): int { return true; } //~ type-mismatch @23
fun G(): int { return; } //~ type-mismatch @16
fun H() { return 1; } //~ type-mismatch @18
machine Main { start state S { entry { return 1; } } } //~ type-mismatch @47

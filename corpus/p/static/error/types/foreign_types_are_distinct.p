type F;
type G;
machine Main { var f: F; var g: G; start state S { entry { f = g; } } } //~ type-mismatch

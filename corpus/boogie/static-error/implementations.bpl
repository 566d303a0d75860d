// diagnostics: boogie-implementation-mismatch@3, boogie-unknown-procedure@4
procedure p(x: int) returns (y: int);
implementation p(x: int) returns (y: bool) { }
implementation q() { }

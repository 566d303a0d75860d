// fails 1 assert
var g: int;
procedure f() modifies g; { g := 1; assert false; g := 2; }
procedure main() modifies g; { g := 0; call f(); assume false; }

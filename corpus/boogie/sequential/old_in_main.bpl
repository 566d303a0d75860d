// safe 1
var g: int;
procedure main() modifies g; { g := g + 1; assert old(g) == g - 1; }

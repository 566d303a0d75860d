// fails 1 ensures
var g: int;
procedure bump() modifies g; ensures g == old(g) + 1; { g := g + 2; }
procedure main() modifies g; { call bump(); }

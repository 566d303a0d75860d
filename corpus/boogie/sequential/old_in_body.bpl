// safe 1
var g: int;
procedure bump() modifies g; { g := g + 1; g := g + 1; assert g == old(g) + 2; }
procedure main() modifies g; { g := 5; call bump(); assert g == 7; call bump(); }

// safe 1
var g: int;
procedure bump(); modifies g; ensures g == old(g) + 1;
procedure main() modifies g; { g := 1; call bump(); call bump(); assert g == 3; }

// holds 4
var g: int;
procedure go() modifies g; { g := g + 1; if (*) { call go(); } }
procedure main() modifies g; { g := 0; call go(); assert g > 0; }

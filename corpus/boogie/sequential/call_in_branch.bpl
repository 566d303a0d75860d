// fails 1 assert
var g: int;
procedure bump() modifies g; { g := g + 1; }
procedure main() modifies g; { g := 0; if (*) { call bump(); } if (*) { call bump(); } assert g < 2; }

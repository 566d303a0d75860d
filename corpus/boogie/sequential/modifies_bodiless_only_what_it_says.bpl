// safe 1
var g, h: int;
procedure touch(); modifies g;
procedure main() modifies g, h; { h := 1; call touch(); assert h == 1; }

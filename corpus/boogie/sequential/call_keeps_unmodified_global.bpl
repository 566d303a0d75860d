// safe 1
var g, h: int;
procedure set(x: int) modifies g; { g := x; }
procedure main() modifies g, h; { h := 8; call set(3); assert h == 8; }

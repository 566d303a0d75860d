// safe 1
var g: int;
procedure set(x: int) modifies g; { g := x; }
procedure main() modifies g; { call set(3); assert g == 3; call set(4); assert g == 4; }

// safe 1
var g: int;
axiom {:init} g == 4;
procedure main() modifies g; { assert g == 4; g := 5; }

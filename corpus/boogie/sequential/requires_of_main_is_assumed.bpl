// safe 1
var g: int;
procedure main(x: int) requires x > g; requires g > 0; { assert x > 1; }

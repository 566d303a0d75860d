// safe 1
var g: int where g >= 0;
procedure main() modifies g; { assert g >= 0; havoc g; assert g >= 0; }

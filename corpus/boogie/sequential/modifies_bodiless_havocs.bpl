// fails 1 assert
var g: int;
procedure touch(); modifies g;
procedure main() modifies g; { g := 1; call touch(); assert g == 1; }

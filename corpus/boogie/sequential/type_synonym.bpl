// safe 1
type Word = int; type Memory a = [Word]a;
var m: Memory bool;
procedure main() modifies m; { m[1] := true; assert m[1]; }

// safe 1
var m: [int]int;
procedure set(i: int) modifies m; ensures m == old(m)[i := 1]; { m[i] := 1; }
procedure main() modifies m; { m[0] := 7; call set(1); assert m[0] == 7; }

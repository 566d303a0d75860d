// safe 1
function get(m: [int]int, i: int): int { m[i] }
procedure main() { var m: [int]int; m[2] := 9; assert get(m, 2) == 9; }

// safe 1
var heap: [int]int;
procedure store(a: int, v: int) modifies heap; { heap[a] := v; }
procedure main() modifies heap; { call store(1, 10); call store(2, 20); assert heap[1] + heap[2] == 30; }

// fails 1 requires
var stack: [int]int; var top: int;
procedure push(x: int) modifies stack, top; { stack[top] := x; top := top + 1; }
procedure pop() returns (x: int) modifies top; requires top > 0; { top := top - 1; x := stack[top]; }
procedure main() modifies stack, top;
{ var a: int; top := 0; call push(1); call a := pop(); call a := pop(); }

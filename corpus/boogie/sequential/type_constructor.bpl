// safe 1
type Ref; type Field a;
const unique value: Field int; const unique flag: Field bool;
var heap: [Ref](Field int);
procedure main() { var r, s: Ref; assume r == s; assert heap[r] == heap[s]; }

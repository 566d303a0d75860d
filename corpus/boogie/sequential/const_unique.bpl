// safe 1
type T;
const unique a, b, c: T;
const d: T;
procedure main() { assert a != b && b != c; }

// fails 1 assert
type T;
const unique a, b: T; const d: T;
procedure main() { assert a != d; }

// fails 1 assert
type T;
procedure main() { var a, b: T; assert a == b; }

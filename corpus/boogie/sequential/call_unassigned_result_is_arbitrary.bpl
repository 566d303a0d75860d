// fails 1 assert
procedure f() returns (a: int) { }
procedure main() { var b: int; call b := f(); assert b != 3; }

// fails 1 assert
function f(int) returns (int);
procedure main() { assert f(1) == f(2); }

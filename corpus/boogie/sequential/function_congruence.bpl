// safe 1
function f(int) returns (int);
procedure main() { var x, y: int; assume x == y; assert f(x) == f(y); }

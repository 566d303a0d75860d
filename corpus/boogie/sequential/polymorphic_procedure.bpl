// safe 1
procedure copy<a>(x: a) returns (y: a) { y := x; }
procedure main() { var i: int, b: bool; call i := copy(3); call b := copy(false); assert i == 3 && !b; }

// safe 1
function a(x: int): int { b(x) + 1 }
function b(x: int): int { x * 2 }
procedure main() { assert a(3) == 7; }

// safe 1
procedure p0(x: int) returns (y: int) { y := x + 1; }
procedure p1(x: int) returns (y: int) { call y := p0(x); call y := p0(y); }
procedure p2(x: int) returns (y: int) { call y := p1(x); call y := p1(y); }
procedure p3(x: int) returns (y: int) { call y := p2(x); call y := p2(y); }
procedure p4(x: int) returns (y: int) { call y := p3(x); call y := p3(y); }
procedure p5(x: int) returns (y: int) { call y := p4(x); call y := p4(y); }
procedure main() { var r: int; call r := p5(0); assert r == 32; }

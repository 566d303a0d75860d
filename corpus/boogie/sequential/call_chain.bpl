// safe 1
procedure p0(x: int) returns (y: int) { y := x; }
procedure p1(x: int) returns (y: int) { call y := p0(x + 1); }
procedure p2(x: int) returns (y: int) { call y := p1(x + 1); }
procedure p3(x: int) returns (y: int) { call y := p2(x + 1); }
procedure p4(x: int) returns (y: int) { call y := p3(x + 1); }
procedure p5(x: int) returns (y: int) { call y := p4(x + 1); }
procedure p6(x: int) returns (y: int) { call y := p5(x + 1); }
procedure p7(x: int) returns (y: int) { call y := p6(x + 1); }
procedure p8(x: int) returns (y: int) { call y := p7(x + 1); }
procedure p9(x: int) returns (y: int) { call y := p8(x + 1); }
procedure p10(x: int) returns (y: int) { call y := p9(x + 1); }
procedure p11(x: int) returns (y: int) { call y := p10(x + 1); }
procedure p12(x: int) returns (y: int) { call y := p11(x + 1); }
procedure p13(x: int) returns (y: int) { call y := p12(x + 1); }
procedure p14(x: int) returns (y: int) { call y := p13(x + 1); }
procedure main() { var r: int; call r := p14(0); assert r == 14; }

// safe 1
procedure pick() returns (y: int); ensures y > 2;
procedure main() { var r: int; call r := pick(); assert r >= 3; }

// fails 1 assert
procedure pick() returns (y: int); ensures y > 2;
procedure main() { var r, s: int; call r := pick(); call s := pick(); assert r == s; }

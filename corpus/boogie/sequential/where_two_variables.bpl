// safe 1
var lo: int; var hi: int where lo <= hi;
procedure main() modifies lo, hi; { assert lo <= hi; lo := 10; havoc hi; assert hi >= 10; }

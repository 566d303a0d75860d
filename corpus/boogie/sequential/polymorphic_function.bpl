// safe 1
function id<a>(x: a): a { x }
procedure main() { assert id(3) == 3; assert id(true); }

// safe 1
function {:inline} twice(x: int): int { x + x }
function four(x: int) returns (int) { twice(twice(x)) }
procedure main() { assert four(3) == 12; }

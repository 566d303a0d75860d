// safe 5
function {:bvbuiltin "bvadd"} add8(bv8, bv8) returns (bv8);
function {:bvbuiltin "bvult"} lt8(bv8, bv8) returns (bool);
function {:bvbuiltin "bvand"} and8(bv8, bv8) returns (bv8);
function {:bvbuiltin "zero_extend 8"} zext(bv8) returns (bv16);
function {:bvbuiltin "(_ sign_extend 8)"} sext(bv8) returns (bv16);
function {:bvbuiltin "bvmul"} mul8(bv8, bv8) returns (bv8);

procedure main()
{
  var x: bv8, i: int;
  x := 1bv8;
  i := 0;
  while (i < 4) { x := add8(x, x); i := i + 1; }
  assert x == 16bv8;
}

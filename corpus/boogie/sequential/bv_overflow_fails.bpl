// fails 1 assert
function {:bvbuiltin "bvadd"} add8(bv8, bv8) returns (bv8);
function {:bvbuiltin "bvult"} lt8(bv8, bv8) returns (bool);
function {:bvbuiltin "bvand"} and8(bv8, bv8) returns (bv8);
function {:bvbuiltin "zero_extend 8"} zext(bv8) returns (bv16);
function {:bvbuiltin "(_ sign_extend 8)"} sext(bv8) returns (bv16);
function {:bvbuiltin "bvmul"} mul8(bv8, bv8) returns (bv8);

procedure main()
{
  var x: bv8;
  assert lt8(x, add8(x, 1bv8));
}

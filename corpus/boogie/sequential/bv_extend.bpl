// safe 1
function {:bvbuiltin "bvadd"} add8(bv8, bv8) returns (bv8);
function {:bvbuiltin "bvult"} lt8(bv8, bv8) returns (bool);
function {:bvbuiltin "bvand"} and8(bv8, bv8) returns (bv8);
function {:bvbuiltin "zero_extend 8"} zext(bv8) returns (bv16);
function {:bvbuiltin "(_ sign_extend 8)"} sext(bv8) returns (bv16);
function {:bvbuiltin "bvmul"} mul8(bv8, bv8) returns (bv8);

procedure main()
{
  assert zext(200bv8) == 200bv16;
  assert sext(255bv8) == 65535bv16;
}

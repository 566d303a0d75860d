// Bitvectors with the solver's operations.
// explore: concurrent exit holds

function {:bvbuiltin "bvadd"} add(x: bv8, y: bv8) returns (bv8);
function {:bvbuiltin "bvmul"} mul(x: bv8, y: bv8) returns (bv8);
function {:bvbuiltin "bvslt"} slt(x: bv8, y: bv8) returns (bool);
function {:bvbuiltin "bvashr"} ashr(x: bv8, y: bv8) returns (bv8);
function {:bvbuiltin "(_ zero_extend 8)"} widen(x: bv8) returns (bv16);
function {:bvbuiltin "sign_extend 8"} widen_signed(x: bv8): bv16;

procedure main()
{
  var x: bv8;
  x := add(250bv8, 10bv8);
  assert x == 4bv8;
  assert mul(16bv8, 16bv8) == 0bv8;
  assert slt(255bv8, 0bv8) && !slt(0bv8, 255bv8);
  assert ashr(128bv8, 7bv8) == 255bv8;
  assert widen(255bv8) == 255bv16 && widen_signed(255bv8) == 65535bv16;
  assert 171bv8[8:4] == 10bv4 && 171bv8[4:0] == 11bv4;
  assert 10bv4 ++ 11bv4 == 171bv8;
}

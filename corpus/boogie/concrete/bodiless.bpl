// A procedure without body changes what it may and ensures what it says.
// ints: 0..3
// explore: concurrent exit holds

var g, h: int;

procedure grow() returns (r: int);
  modifies g;
  ensures g > old(g) && r == old(g);

procedure main()
{
  var r: int;
  g, h := 1, 2;
  call r := grow();
  assert r == 1 && g > 1 && h == 2;
}

// The contract of the entry point speaks about its parameters, one of which hides a global variable.
// ints: 0..2
// explore: dfw(0) exit holds
// explore: dfw(1) exit fails
var g: int;
var n: int;

procedure add(by: int)
  modifies g;
{
  g := g + by;
}

procedure {:entrypoint} main(n: int) returns (r: int where r > 0)
  requires n > 0;
  requires g == 0 && (forall x: bool :: x ==> n > 0);
  modifies g;
{
  call {:async} add(n);
  assume {:yield} true;
  assert g < n || r <= 0;
}

implementation main(n: int) returns (r: int)
{
  call {:async} add(n);
  assume {:yield} true;
  assert g == 0;
}

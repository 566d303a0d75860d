// safe 1
type T;
var m: [int]T;
procedure {:entrypoint} start(n: int, t: T where t != m[0]) returns (r: int where r > n)
  requires n > 0;
  requires (forall i: int :: i < n ==> m[i] == m[0]);
{
  assert n > 0 && m[0] != t;
  assert n > 1 ==> m[1] == m[0];
  assert r > 1;
}

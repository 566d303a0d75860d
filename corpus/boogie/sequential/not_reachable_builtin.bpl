// fails 1 unreachable
var g: int;

procedure main() modifies g;
{
  if (g > 3) { call corral_assert_not_reachable(); }
}

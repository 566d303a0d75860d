// Polymorphic functions and procedures are copied for the types they are used with.
// explore: concurrent exit holds

function first<a>(x: a, y: a) returns (a) { x }

procedure swap<t>(x: t, y: t) returns (u: t, v: t)
{
  u, v := y, x;
}

procedure main()
{
  var i, j: int;
  var b, c: bool;
  call i, j := swap(1, 2);
  call b, c := swap(true, false);
  assert first(i, j) == 2 && first(c, b);
}

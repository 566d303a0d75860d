// Recursive procedures and functions.
// explore: concurrent exit holds

function fact(n: int) returns (int) { if n <= 1 then 1 else n * fact(n - 1) }

procedure factorial(n: int) returns (r: int)
  requires n >= 0;
  ensures r == fact(n);
{
  if (n == 0)
  {
    r := 1;
    return;
  }
  call r := factorial(n - 1);
  r := n * r;
}

procedure {:entrypoint} start()
{
  var r: int;
  call r := factorial(5);
  assert r == 120;
}

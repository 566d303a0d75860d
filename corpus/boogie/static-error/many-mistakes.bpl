// diagnostics: boogie-unknown-name@6, boogie-type-mismatch@7, boogie-unknown-procedure@8, boogie-arity@9, boogie-unknown-type@12
var x: int;
function f(a: int, b: bool): int;
procedure main()
{
  x := y + 1;
  x := true;
  call nobody();
  x := f(1);
}

procedure p(a: Nothing);

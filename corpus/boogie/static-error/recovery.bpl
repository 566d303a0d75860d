// diagnostics: boogie-syntax@4, boogie-syntax@5, boogie-syntax@9
procedure main() {
  var x: int;
  x := := 1;
  call main(;
  assert x == 1;
}

function f(x: int returns (int);

procedure q() { assert true; }

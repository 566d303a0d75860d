// diagnostics: boogie-handle-storage@4, boogie-handle@12, boogie-handle@13, boogie-wait-arguments@14, boogie-type-mismatch@15, boogie-yield-arguments@16, boogie-async-results@17
type task a;
var shared: int;
var kept: [int]task int;
procedure p() returns (r: int) { r := 1; }
procedure main()
{
  var t: task int;
  var u: task bool;
  var n: int;
  var b: bool;
  call {:async b} p();
  call {:async u} p();
  assume {:wait 3} true;
  assume {:wait b, t} true;
  assume {:yield 2, 1} true;
  async call b := p();
}

// Several implementations of a procedure are a choice.
// explore: concurrent exit fails

implementation pick() returns (r: int) { r := 1; }

procedure pick() returns (r: int);

implementation pick() returns (s: int) { s := 2; }

procedure main()
{
  var x: int;
  call x := pick();
  assert x == 1;
}

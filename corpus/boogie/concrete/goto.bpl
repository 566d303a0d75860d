// A jump to several labels takes any of them.
// explore: concurrent exit fails

procedure main()
{
  var x: int;
start:
  x := 0;
  goto left, right;
left:
  x := x + 1;
  goto done;
right:
  x := x + 2;
done:
  assert x == 1;
}

// fails 1 assert
var g: int;

procedure main() modifies g;
{
  assert g != 7;
}

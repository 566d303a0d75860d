// fails 1
procedure {:entrypoint} main(i: int)
  requires i > 0;
{
  assert i > 1;
}

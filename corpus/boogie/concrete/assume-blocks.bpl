// After an assumption that does not hold nothing happens.
// explore: concurrent exit holds
// explore: concurrent continue holds

procedure main()
{
  assume 1 > 2;
  assert false;
}

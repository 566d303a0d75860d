// In continue mode a failure counts only if the run can be completed.
// explore: concurrent exit fails
// explore: concurrent continue holds

procedure main()
{
  assert false;
  assume false;
}

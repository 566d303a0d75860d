// Tasks have numbers from one on.
// explore: concurrent exit holds
// explore: dfw(1) exit holds
// explore: df(1) exit holds
// explore: child-first(2) exit holds

procedure child(parent: int)
{
  var me: int;
  call me := corral_getThreadID();
  assert me == 2 && parent == 1;
}

procedure main()
{
  var me, c, t: int;
  call me := corral_getThreadID();
  async call t := child(me);
  call c := corral_getChildThreadID();
  assert me == 1 && c == 2 && t == 2;
  call boogie_si_record_int(c);
}

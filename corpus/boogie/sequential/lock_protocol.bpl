// fails 2 assert
var locked: bool;
procedure acquire() modifies locked; { assert !locked; locked := true; }
procedure release() modifies locked; { assert locked; locked := false; }
procedure main() modifies locked;
{
  var new, old_count: int;
  locked := false;
  call acquire();
  while (*) { if (*) { call release(); } }
  call release();
}

// safe 5
// Every label can be reached from every other: no loop has one head, and copies would never end.
procedure main()
{
  var x: int;
  x := 0;
  goto L0, L1, L2, L3, L4, L5, L6, L7, L8, L9;
  L0: assume x < 4; x := x + 1; goto L0, L1, L2, L3, L4, L5, L6, L7, L8, L9, done;
  L1: assume x < 4; x := x + 2; goto L0, L1, L2, L3, L4, L5, L6, L7, L8, L9, done;
  L2: assume x < 4; x := x + 1; goto L0, L1, L2, L3, L4, L5, L6, L7, L8, L9, done;
  L3: assume x < 4; x := x + 2; goto L0, L1, L2, L3, L4, L5, L6, L7, L8, L9, done;
  L4: assume x < 4; x := x + 1; goto L0, L1, L2, L3, L4, L5, L6, L7, L8, L9, done;
  L5: assume x < 4; x := x + 2; goto L0, L1, L2, L3, L4, L5, L6, L7, L8, L9, done;
  L6: assume x < 4; x := x + 1; goto L0, L1, L2, L3, L4, L5, L6, L7, L8, L9, done;
  L7: assume x < 4; x := x + 2; goto L0, L1, L2, L3, L4, L5, L6, L7, L8, L9, done;
  L8: assume x < 4; x := x + 1; goto L0, L1, L2, L3, L4, L5, L6, L7, L8, L9, done;
  L9: assume x < 4; x := x + 2; goto L0, L1, L2, L3, L4, L5, L6, L7, L8, L9, done;
  done: assert x <= 5;
}

// diagnostics: boogie-ignored@7
// Some inputs name a number where a handle would stand; it means nothing.
// explore: concurrent exit holds
procedure p() { }
procedure main() {
  var t: int;
  call {:async t} p();
}

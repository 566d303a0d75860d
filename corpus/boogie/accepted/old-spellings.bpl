// What old inputs write: contextual words as names, odd identifiers, blanks in attributes, posts,
// division of integers.
// diagnostics: boogie-old-division@7
type ref = int;
const unique .str1: ref;
const unique #k: ref;
function {: inline } $f(bef?: int) returns (int) { bef? % 2 / 1 }
var async: int;
var div', yield, posts: int;

procedure {: method} q'(x: int) returns ($r: int)
posts q';
{
  L1: L2: L3:
  async := $f(x);
  yield := async;
  $r := yield;
  end:
}

procedure main()
{
  var \then: int;
  call \then := q'(1);
}

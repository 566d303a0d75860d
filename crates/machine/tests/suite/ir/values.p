// Operators, tuples, collections, paths, loops, calls.
type Pair = (left: int, right: int);

fun Twice(n: int) : int {
  return n + n;
}

machine Main {
  var total: int;
  var pairs: map[int, Pair];
  var names: set[string];

  start state Run {
    entry {
      var list: seq[int];
      var n: int;
      var x: float;
      list += (0, 3);
      list += (1, Twice(4));
      foreach (n in list) {
        if (n > 3 && !(n in pairs)) {
          pairs[n] = (left = n, right = -n);
        } else {
          total = total + n % 2;
        }
      }
      pairs[8].left = sizeof(keys(pairs));
      x = list[0] to float;
      names += (format("total {0}", total));
      pairs -= (8);
      assert total >= 0, format("{0} and {1}", total, x to int);
    }
  }
}

test Values [main = Main]: { Main };

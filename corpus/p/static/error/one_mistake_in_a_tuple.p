type tPair = (left: int, right: int);

fun NoComma(k: int): tPair {
  var p: tPair;
  p = (
    left = k //~ syntax-error
    right = k
  );
  return p;
}

fun Semicolons(k: int): tPair {
  var p: tPair;
  p = (left = k; right = k); //~ syntax-error
  p = (
    left = k; //~ syntax-error
    right = k;
  );
  return p;
}

fun NoValue(k: int): tPair {
  var p: tPair;
  p = (
    left = , //~ syntax-error
    right = k
  );
  return p;
}

fun Statement(k: int): tPair {
  var p: tPair;
  p = (left = if (k > 1) { 1 } else { 2 }, right = k); //~ syntax-error
  return p;
}

fun Braces(k: int): tPair {
  var p: tPair;
  p = {left = k, right = k}; //~ syntax-error
  p = { //~ syntax-error
    left = k,
    right = k
  };
  return p;
}

fun NeverClosed(k: int): tPair {
  var p: tPair;
  p = (
    left = k,
    right = k //~ syntax-error
  ;
  p.left = (k + 1);
  return p;
}

fun InACall(k: int): tPair {
  return NoComma((
    k
    k //~ syntax-error
  ));
}

event eSemicolons: (
  left: int; //~ syntax-error
  right: int;
);

event eNoComma: (
  left: int //~ syntax-error
  right: int
);

machine Main {
  start state Init {
    entry {
      var p: tPair;
      p = (left = 1, right = 2);
      assert p.left < p.right;
    }
  }
}

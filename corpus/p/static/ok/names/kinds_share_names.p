event Thing;
type Unit = int;
fun Thing() { }
module Thing = { Main };
machine Main {
  var Thing: int;
  fun Local() { }
  start state Thing { entry { Thing(); Thing = 1; } }
}
test Thing [main=Main]: { Main };

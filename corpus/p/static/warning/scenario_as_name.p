event eGo: (scenario: int, n: int); //~ warning legacy-name
enum Kind { scenario, other }
fun scenario(scenario: int): int { return scenario + 1; }
machine Main {
  var scenarios: seq[int];
  start state Init {
    entry {
      var x: (scenario: int, n: int);
      x.scenario = 3;
      x = (scenario = scenario(2), n = 1);
      assert x.scenario == 3;
      send this, eGo, x;
    }
    on eGo goto scenario_;
  }
  state scenario_ { }
}
scenario S observes eGo { start state A { on eGo do (p: (scenario: int, n: int)) { } } } //~ warning scenario-shape

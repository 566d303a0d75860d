// Axioms marked `{:init}` speak about the initial values of globals.
// explore: concurrent exit holds

var g: bool;
axiom {:init} g;

procedure main()
{
  assert g;
  g := false;
  assert !g;
}

event A: ; //~ syntax-error @10
enum E { X Y } //~ syntax-error @12
fun F(a int) { } //~ syntax-error @9
machine Main {
  var x int; //~ syntax-error @9
  start state S {
    entry { x = ; } //~ syntax-error @17
  }
}

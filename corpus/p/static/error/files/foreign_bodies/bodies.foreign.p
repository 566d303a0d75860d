event E; //~ bad-handler
fun Missing() { } //~ unknown-function
fun Open(a: int, b: int) { } //~ wrong-argument-count
fun Done() { } //~ duplicate-name
machine Nobody { fun F() { } } //~ unknown-interface
type Nothing = int; //~ unknown-type

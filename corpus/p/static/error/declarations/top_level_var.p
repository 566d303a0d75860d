var x: int; //~ syntax-error @1

type A = seq[B];
type B = (int, A); //~ circular-type @6

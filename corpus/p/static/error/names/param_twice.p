param n: int;
param n: bool; //~ duplicate-name

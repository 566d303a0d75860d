event A;
event A: int; //~ duplicate-name @7

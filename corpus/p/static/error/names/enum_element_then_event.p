enum E { A }
event A; //~ duplicate-name

fun Spawn() creates Missing; //~ unknown-interface @21

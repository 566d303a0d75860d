interface I() receives Missing; //~ unknown-event @24

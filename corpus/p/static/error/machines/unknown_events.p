machine Main receives X; sends Y; { //~ unknown-event @23 //~ unknown-event @32
  start state S {
    defer D; //~ unknown-event @11
    ignore I; //~ unknown-event
    on A, B do { } //~ unknown-event @8 //~ unknown-event @11
    on G goto S; //~ unknown-event
    on U do Missing; //~ unknown-event @8 //~ unknown-function @13
    on V goto Gone; //~ unknown-event @8 //~ unknown-state @15
    on W goto S with Nothing; //~ unknown-event @8 //~ unknown-function
  }
}

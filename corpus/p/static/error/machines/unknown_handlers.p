event A; event B;
machine Main {
  start state S {
    entry Enter; //~ unknown-function @11
    exit Leave; //~ unknown-function @10
    on A do Handle; //~ unknown-function @13
    on B goto S with Pass; //~ unknown-function @22
  }
}

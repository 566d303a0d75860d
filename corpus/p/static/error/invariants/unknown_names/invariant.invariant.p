forall (c: Clinet) :: //~ bad-invariant
  c is Waiting ==>
  Server.busy //~ bad-invariant
  && Server is Wating //~ unknown-state
  && Client.server.job == 3 //~ bad-invariant
  && Watch.m > 1 //~ bad-invariant
  && Watch is Panic //~ unknown-state
  && Nobody.n == 2 //~ unknown-name

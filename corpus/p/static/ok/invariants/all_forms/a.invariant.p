forall (c: Client, d: Client) ::
  c != d && c is Waiting ==> !(d.server.best == d && d.server is Idle) <==> Watch.n < Double(2)

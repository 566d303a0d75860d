Client.n == 1 Server.last == null //~ syntax-error

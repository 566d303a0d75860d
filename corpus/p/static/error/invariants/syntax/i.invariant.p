Client.n == //~ syntax-error

1 + sizeof(Server.jobs) > Server.last.n //~ bad-invariant

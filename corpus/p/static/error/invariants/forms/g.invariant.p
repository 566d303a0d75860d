Send(Server) && $ && inflight eAsk //~ bad-invariant //~ bad-invariant //~ proof-only

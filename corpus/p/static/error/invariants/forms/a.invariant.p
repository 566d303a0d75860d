Client.n //~ type-mismatch

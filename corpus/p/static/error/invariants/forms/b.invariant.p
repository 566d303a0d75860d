Client in Waiting //~ bad-invariant

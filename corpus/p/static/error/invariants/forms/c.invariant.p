Client.n == 1 && Client.n is Waiting //~ bad-invariant

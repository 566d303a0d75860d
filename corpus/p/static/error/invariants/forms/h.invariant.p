Double((exists (c: Client) :: c.n > 1)) == 3 //~ bad-invariant

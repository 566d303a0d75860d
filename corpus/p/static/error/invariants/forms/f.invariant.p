forall (n: int) :: n == n //~ bad-invariant

forall (w: Watch) :: true //~ bad-invariant

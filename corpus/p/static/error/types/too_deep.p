type A0 = seq[seq[seq[seq[seq[seq[seq[seq[seq[seq[int]]]]]]]]]];
type A1 = seq[seq[seq[seq[seq[seq[seq[seq[seq[seq[A0]]]]]]]]]];
type B0 = (A1, A1, A1, A1, A1, A1, A1, A1, A1, A1);
type B1 = (B0, B0, B0, B0, B0, B0, B0, B0, B0, B0);
type B2 = (B1, B1, B1, B1, B1, B1, B1, B1, B1, B1); //~ nested-too-deep @6
type B3 = (B2, B2, B2, B2, B2, B2, B2, B2, B2, B2);

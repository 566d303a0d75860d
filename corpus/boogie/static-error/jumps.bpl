// diagnostics: boogie-duplicate@5, boogie-unknown-label@6, boogie-unknown-label@7, boogie-misplaced-break@8, boogie-misplaced-break@9
procedure main()
{
  a: assert true;
  a: assert true;
  goto nowhere;
  goto inside;
  break;
  break a;
  if (*) { inside: assert true; }
}

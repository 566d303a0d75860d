// diagnostics: boogie-unsupported@2, boogie-unsupported@3, boogie-unsupported@4, boogie-unsupported@7, boogie-unsupported@8
datatype D { A() }
yield procedure z() { }
invariant x == 0;
procedure p()
{
  par call p();
  call forall p(*);
}

// diagnostics: boogie-unsupported@2, boogie-unsupported@3, boogie-unsupported@6, boogie-unsupported@7
datatype D { A() }
yield procedure z() { }
procedure p()
{
  par call p();
  call forall p(*);
}

// unsupported
procedure p() { }
procedure main() { async call p(); }

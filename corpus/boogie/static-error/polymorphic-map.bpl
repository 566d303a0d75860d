// diagnostics: boogie-unsupported@3
type Field a;
var heap: <a>[int, Field a]a;
procedure main() { }

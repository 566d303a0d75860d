machine Main {
  var s: string;
  start state S {
    entry {
      s = "";
      s = "a // no comment /* here */";
      s = "quote \" backslash \\ newline \n tab \t";
      s = "braces {{ and }}";
    }
  }
}

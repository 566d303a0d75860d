state S { } //~ syntax-error @1

fun F(x) { } //~ syntax-error @8

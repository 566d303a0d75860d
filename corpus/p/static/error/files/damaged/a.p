event E: ; //~ syntax-error

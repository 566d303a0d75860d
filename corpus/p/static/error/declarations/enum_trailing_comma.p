enum Color { Red, Green, } //~ syntax-error @24

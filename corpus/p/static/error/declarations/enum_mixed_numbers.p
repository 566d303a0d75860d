enum Color { Red = 1, Green } //~ syntax-error @23

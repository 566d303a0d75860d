enum Color { Red = 2147483648, Green = 1 } //~ integer-too-large

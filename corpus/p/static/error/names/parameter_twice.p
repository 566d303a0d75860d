fun F(x: int, x: bool) { } //~ duplicate-name @15

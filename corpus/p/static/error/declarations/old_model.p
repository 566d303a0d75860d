model fun F() { } //~ removed-syntax

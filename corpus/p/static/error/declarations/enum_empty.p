enum Nothing { } //~ syntax-error

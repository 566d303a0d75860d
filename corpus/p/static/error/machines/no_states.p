machine Main { } //~ no-start-state

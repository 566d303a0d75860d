type Row = (key: int, key: bool); //~ duplicate-field @23

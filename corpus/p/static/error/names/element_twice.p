enum E { A, B, A } //~ duplicate-name @16

event A;
enum E { A, B } //~ duplicate-name @10
enum G { B } //~ duplicate-name

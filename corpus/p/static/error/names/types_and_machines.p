type Thing = int;
enum Thing { A } //~ duplicate-name @6
machine Thing { start state S { } } //~ duplicate-name @9
interface Thing() receives; //~ duplicate-name @11
spec Thing observes halt { start state S { } } //~ duplicate-name @6
scenario Thing observes halt { start state S { } cold state T { } } //~ duplicate-name @10
type Thing; //~ duplicate-name @6

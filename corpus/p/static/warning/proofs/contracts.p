fun F(x: int) return (y: int); requires x > 0; ensures y > x; //~ note proof-not-checked
fun G(x: int)
machine Main { start state S { entry { assert F(1) > 1; G(2); } } }

machine Main { start state S { } }
machine Other { start state S { } }
module All = { Main, Other };
test One [main=Main]: All;
test Two [main=Other]: { Other };
implementation Impl [main=Main]: All;
implementation Bare: { Main };

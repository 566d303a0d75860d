machine Main { start state S { entry { new Library(); } } }
test T [main=Main]: { Main, Library };

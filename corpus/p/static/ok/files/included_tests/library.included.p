machine Library { start state S { } }
test T [main=Library]: { Library, Missing };

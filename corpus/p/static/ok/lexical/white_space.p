machine	Main{start state S{entry{}}}

interface I() receives;
machine W { start state S { } }
machine V { start state S { entry { new I(); } } }
module M = hidei I in { W -> I }; //~ module-conflict @18
module N = hidei I in { V }; //~ module-conflict

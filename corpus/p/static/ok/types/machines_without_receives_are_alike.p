machine W { start state S { } }
machine Main { var w: W; var m: Main; start state S { entry { w = this; m = w; m = new W(); } } }

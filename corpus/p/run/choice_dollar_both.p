// expect: violated assertion both
machine Main { start state S { entry { var a: bool; var b: bool; a = $; b = $$; assert a == b, "both"; } } }

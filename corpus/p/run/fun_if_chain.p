// expect: holds
fun Sign(n: int): string { if (n < 0) { return "neg"; } else if (n == 0) { return "zero"; } else { return "pos"; } }
machine Main { start state S { entry { assert Sign(-3) == "neg" && Sign(0) == "zero" && Sign(9) == "pos"; } } }

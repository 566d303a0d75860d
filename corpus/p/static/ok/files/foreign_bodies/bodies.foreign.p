type Handle = int;
fun Open(name: string): Handle { if (name == "") { return 0; } return 1; }
machine Main { fun Close(h: Handle) { assert h > 0; } }

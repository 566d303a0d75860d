type Tree = (value: int, children: seq[Tree]); //~ circular-type @6

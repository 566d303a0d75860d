// expect: violated deadlock Main(1)
event eA;
machine Main { start state S { entry { receive { case eA: { } } } } }

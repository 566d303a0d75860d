// expect: holds
machine Main {
  start state S {
    entry {
      var f: float; var z: float; var g: float;
      f = 7.5; g = f / z; assert g > f; assert (z / z) != (z / z);
      assert f to int == 7; assert (3 to float) * 0.5 == 1.5; assert -f < z;
      f = -1.9; assert f to int == -1; assert 7.5 % 2.0 == 1.5;
    }
  }
}

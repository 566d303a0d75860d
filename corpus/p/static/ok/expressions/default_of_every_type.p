event A;
enum E { X }
type F;
machine Main {
  var a: any;
  start state S {
    entry {
      a = default(int); a = default(bool); a = default(float); a = default(string); a = default(event);
      a = default(machine); a = default(any); a = default(data); a = default(seq[int]); a = default(set[E]);
      a = default(map[int, F]); a = default((int, bool)); a = default((x: int)); a = default(E); a = default(F);
      a = default(Main); a = default(A);
    }
  }
}

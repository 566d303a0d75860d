type Id = int;
type Pair = (Id, Id);
type Row = (key: Id, cells: seq[Pair]);
type Table = map[Id, Row];
type Handle;
machine Main {
  var t: Table;
  var h: Handle;
  start state S { entry { t[1] = (key = 1, cells = default(seq[Pair])); } }
}

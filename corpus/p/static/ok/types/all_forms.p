event A;
enum E { X }
type F;
type T = int;
eventset Es = { A };
interface I() receives A;
machine Main {
  var a: bool; var b: int; var c: float; var d: string; var e: event; var f: machine; var g: data; var h: any;
  var i: seq[int]; var j: set[bool]; var k: map[int, seq[string]];
  var l: (int); var m: (int, bool); var n: (x: int); var o: (x: int, y: (int, float));
  var p: E; var q: F; var r: T; var s: Es; var t: I; var u: Main; var v: A;
  start state S { }
}

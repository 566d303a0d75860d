// Each is told once, and nothing that follows from it.
event send: int; //~ reserved-word @7
event eOk: (type: int, n: int); //~ reserved-word
type map = int; //~ reserved-word
enum data { Some, Other } //~ reserved-word
fun choose(n: int): int { return n; } //~ reserved-word

machine Main {
    var x: int;
    var event: map; //~ reserved-word
    var values: seq[int]; //~ reserved-word
    start state S {
        entry {
            type = 1;
            event = 2;
            values += (0, event + 1);
            x = type + values[0];
            x = choose(x) + sizeof(values);
            raise send, x;
        }
        on send do (type: int) {
            state(type, values); //~ reserved-word
            goto on, type; //~ reserved-word
        }
        on eOk do handle;
    }
    state on {
        entry (param: int) { x = param; } //~ reserved-word
        exit { x = exit; } //~ reserved-word
    }
    fun state(x: int, y: seq[int]) {
        foreach (entry in values) { event = entry; } //~ reserved-word
    }
    fun handle(it: (type: int, n: int)) { x = it.type; values[0] = it.n; }
}

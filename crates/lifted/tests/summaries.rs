//! Guards against truth tables; summaries against plain tables of one value for each assignment.

use allways_lifted::{Assignment, Guard, Guards, Halt, Shared, Values};
use allways_machine::value::{Kind, Store, Value, View};

const VARIABLES: usize = 4;
const ASSIGNMENTS: usize = 1 << VARIABLES;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

fn assignment(n: usize) -> Assignment {
    Assignment((0..VARIABLES).map(|bit| n >> bit & 1 == 1).collect())
}

/// The guard that holds for the assignments of a bit set.
fn guard_of(guards: &mut Guards<'_>, variables: &[Guard], table: u16) -> Guard {
    let mut all = Guard::FALSE;
    for n in (0..ASSIGNMENTS).filter(|n| table >> n & 1 == 1) {
        let one = variables.iter().enumerate().fold(Guard::TRUE, |one, (bit, &variable)| {
            guards.and(one, if n >> bit & 1 == 1 { variable } else { variable.not() })
        });
        all = guards.or(all, one);
    }
    all
}

fn table_of(guards: &Guards<'_>, guard: Guard) -> u16 {
    (0..ASSIGNMENTS).filter(|&n| guards.holds(guard, &assignment(n))).fold(0, |table, n| table | 1 << n)
}

const NEVER: &dyn Fn() -> bool = &|| false;

#[test]
fn guards_are_truth_tables() {
    let mut guards = Guards::new(usize::MAX, NEVER);
    let variables: Vec<Guard> = (0..VARIABLES).map(|_| guards.fresh()).collect();
    let mut random = Random(7);
    let mut known: Vec<(u16, Guard)> = vec![(0, Guard::FALSE), (u16::MAX, Guard::TRUE)];
    for round in 0..4_000 {
        let (a, b) = (known[random.below(known.len())], known[random.below(known.len())]);
        let made = match random.below(5) {
            0 => (a.0 & b.0, guards.and(a.1, b.1)),
            1 => (a.0 | b.0, guards.or(a.1, b.1)),
            2 => (!a.0, a.1.not()),
            3 => (a.0 & !b.0, guards.minus(a.1, b.1)),
            _ => {
                let table = random.below(1 << ASSIGNMENTS) as u16;
                (table, guard_of(&mut guards, &variables, table))
            }
        };
        assert_eq!(table_of(&guards, made.1), made.0);
        for &(table, guard) in &known {
            assert_eq!(table == made.0, guard == made.1, "one handle for each formula");
        }
        assert_eq!(guards.implies(a.1, b.1), a.0 & !b.0 == 0);
        match guards.pick(made.1) {
            None => assert_eq!(made.0, 0),
            Some(found) => assert!(guards.holds(made.1, &found)),
        }
        if known.iter().all(|known| known.0 != made.0) {
            known.push(made);
        }
        if round % 100 == 99 {
            known.truncate(20);
            guards.collect(known.iter().map(|known| known.1).chain(variables.iter().copied()));
            assert!(known.iter().all(|&(table, guard)| table_of(&guards, guard) == table));
        }
    }
    assert!(guards.usage().n_collections > 10);
}

#[test]
fn alternatives_are_disjoint_and_cover_everything() {
    for n in 1..20 {
        let mut guards = Guards::new(usize::MAX, NEVER);
        let found = guards.alternatives(n);
        assert_eq!(guards.any(found.iter().copied()), Guard::TRUE);
        for (at, &guard) in found.iter().enumerate() {
            assert!(!guard.is_false());
            assert!(found[..at].iter().all(|&other| !guards.meet(guard, other)));
        }
    }
}

#[test]
fn limits_stop_the_work() {
    let mut guards = Guards::new(1 << 16, NEVER);
    let variables: Vec<Guard> = (0..40).map(|_| guards.fresh()).collect();
    let mut random = Random(3);
    let mut all = Guard::FALSE;
    for _ in 0..10_000 {
        let cube = variables.iter().fold(Guard::TRUE, |cube, &variable| match random.below(3) {
            0 => cube,
            1 => guards.and(cube, variable),
            _ => guards.and(cube, variable.not()),
        });
        all = guards.or(all, cube);
    }
    assert_eq!(guards.halted(), Some(Halt::Memory));
    assert_eq!(guards.pick(all), None);

    let stop = &|| true;
    let mut guards = Guards::new(usize::MAX, stop);
    let variables: Vec<Guard> = (0..24).map(|_| guards.fresh()).collect();
    let mut parity = Guard::FALSE;
    for _ in 0..2_000 {
        for &variable in &variables {
            let (a, b) = (guards.minus(parity, variable), guards.minus(variable, parity));
            parity = guards.or(a, b);
            let fresh = guards.fresh();
            parity = guards.and(parity, fresh);
        }
    }
    assert_eq!(guards.halted(), Some(Halt::Stopped));
}

struct Checker {
    values: Values<'static>,
    variables: Vec<Guard>,
    random: Random,
}

type Table = [Option<Value>; ASSIGNMENTS];

impl Checker {
    fn new(seed: u64) -> Self {
        let mut guards = Guards::new(usize::MAX, NEVER);
        let variables = (0..VARIABLES).map(|_| guards.fresh()).collect();
        Checker { values: Values::new(guards, Store::default()), variables, random: Random(seed) }
    }

    fn guard(&mut self) -> (u16, Guard) {
        // Guards with structure, besides any.
        let table = match self.random.below(4) {
            0 => [0x00ff, 0x0f0f, 0x3333, 0x5555, 0xffff][self.random.below(5)],
            1 => 1 << self.random.below(ASSIGNMENTS),
            _ => self.random.below(1 << ASSIGNMENTS) as u16,
        };
        (table, guard_of(&mut self.values.guards, &self.variables, table))
    }

    fn value(&mut self, depth: usize) -> Value {
        let n = self.random.below(if depth == 0 { 5 } else { 10 });
        let store = &mut self.values.store;
        match n {
            0 => Value::NULL,
            1 => Value::bool(true),
            2 | 3 => store.int(self.random.below(3) as i64),
            4 => store.string(["a", "b"][self.random.below(2)]),
            5 | 6 => {
                let elements: Vec<Value> =
                    (0..1 + self.random.below(2)).map(|_| self.value(depth - 1)).collect();
                self.values.store.tuple(&elements)
            }
            7 => {
                let elements: Vec<Value> = (0..self.random.below(3)).map(|_| self.value(depth - 1)).collect();
                self.values.store.seq(&elements)
            }
            8 => {
                let mut set = self.values.store.empty(Kind::Set);
                for _ in 0..self.random.below(4) {
                    let element = Value::size(self.random.below(3));
                    set = match self.random.below(3) {
                        0 => self.values.store.remove(set, element),
                        _ => self.values.store.add(set, element),
                    }
                    .unwrap();
                }
                set
            }
            _ => {
                let mut map = self.values.store.empty(Kind::Map);
                for _ in 0..self.random.below(4) {
                    let (key, value) = (Value::size(self.random.below(3)), self.value(depth - 1));
                    map = match self.random.below(3) {
                        0 => self.values.store.remove(map, key),
                        _ => self.values.store.set(map, key, value),
                    }
                    .unwrap();
                }
                map
            }
        }
    }

    /// A summary and its table.
    fn summary(&mut self) -> (Table, Shared) {
        let few: Vec<Value> = (0..4).map(|_| self.value(3)).collect();
        let mut table = [None; ASSIGNMENTS];
        for value in &mut table {
            *value = (self.random.below(8) > 0).then(|| few[self.random.below(few.len())]);
        }
        (table, self.of_table(&table))
    }

    fn of_table(&mut self, table: &Table) -> Shared {
        let mut pairs: Vec<(Value, u16)> = Vec::new();
        for (n, value) in table.iter().enumerate() {
            if let Some(value) = *value {
                match pairs.iter_mut().find(|(known, _)| *known == value) {
                    Some(known) => known.1 |= 1 << n,
                    None => pairs.push((value, 1 << n)),
                }
            }
        }
        let pairs: Vec<(Value, Guard)> = pairs
            .into_iter()
            .map(|(value, table)| (value, guard_of(&mut self.values.guards, &self.variables, table)))
            .collect();
        self.values.of_values(&pairs)
    }

    /// The summary has the values of the table, and is the one summary that has.
    fn check(&mut self, table: &Table, summary: &Shared) {
        for (n, value) in table.iter().enumerate() {
            assert_eq!(self.values.value_under(summary, &assignment(n)), *value);
        }
        assert_eq!(self.of_table(table), *summary, "one summary for each function");
        let mut again: Table = [None; ASSIGNMENTS];
        for (value, guard) in self.values.values(summary, Guard::TRUE) {
            for n in (0..ASSIGNMENTS).filter(|n| table_of(&self.values.guards, guard) >> n & 1 == 1) {
                assert_eq!(again[n].replace(value), None);
            }
        }
        assert_eq!(again, *table);
    }
}

fn map_table(a: &Table, mut f: impl FnMut(usize, Option<Value>) -> Option<Value>) -> Table {
    std::array::from_fn(|n| f(n, a[n]))
}

#[test]
fn operations_are_those_of_tables() {
    for seed in 1..300 {
        let mut checker = Checker::new(seed * 0x9E37_79B9);
        let (a, summary_a) = checker.summary();
        let (b, summary_b) = checker.summary();
        checker.check(&a, &summary_a);
        let (bits, guard) = checker.guard();
        let has = |n: usize| bits >> n & 1 == 1;

        let restricted = checker.values.restrict(&summary_a, guard);
        checker.check(&map_table(&a, |n, value| value.filter(|_| has(n))), &restricted);
        let updated = checker.values.update(&summary_a, &summary_b, guard);
        checker.check(&map_table(&a, |n, value| if has(n) { b[n] } else { value }), &updated);

        let same = checker.values.same(&summary_a, &summary_b);
        let expected = (0..ASSIGNMENTS).filter(|&n| a[n] == b[n]).fold(0, |table, n| table | 1 << n);
        assert_eq!(table_of(&checker.values.guards, same), expected);
        for value in a.iter().chain(&b).flatten() {
            let guard = checker.values.guard_for(&summary_a, *value);
            let expected =
                (0..ASSIGNMENTS).filter(|&n| a[n] == Some(*value)).fold(0, |table, n| table | 1 << n);
            assert_eq!(table_of(&checker.values.guards, guard), expected);
        }
        let domain = (0..ASSIGNMENTS).filter(|&n| a[n].is_some()).fold(0, |table, n| table | 1 << n);
        assert_eq!(table_of(&checker.values.guards, summary_a.domain()), domain);

        let copied = checker.values.copy(&summary_a);
        let copies = map_table(&a, |_, value| value.map(|value| checker.values.store.copy(value)));
        checker.check(&copies, &copied);
        tuples(&mut checker, (&a, &summary_a), (&b, &summary_b), guard);
        sequences(&mut checker, (&b, &summary_b), guard);
    }
}

fn tuples(checker: &mut Checker, a: (&Table, &Shared), b: (&Table, &Shared), guard: Guard) {
    let both = checker.values.guards.and(a.1.domain(), b.1.domain());
    let tuple = checker.values.tuple(&[a.1.clone(), b.1.clone()], both);
    let table = map_table(a.0, |n, first| {
        let (first, second) = (first?, b.0[n]?);
        Some(checker.values.store.tuple(&[first, second]))
    });
    checker.check(&table, &tuple);
    let guard = checker.values.guards.and(guard, both);
    let bits = table_of(&checker.values.guards, guard);
    let changed = checker.values.with_part(&tuple, Kind::Tuple, Value::size(1), a.1, guard);
    let table = map_table(a.0, |n, first| {
        let (first, second) = (first?, b.0[n]?);
        let second = if bits >> n & 1 == 1 { first } else { second };
        Some(checker.values.store.tuple(&[first, second]))
    });
    checker.check(&table, &changed);
}

fn sequences(checker: &mut Checker, element: (&Table, &Shared), guard: Guard) {
    let few: Vec<Value> = (0..3)
        .map(|_| {
            let elements: Vec<Value> = (0..checker.random.below(4)).map(|_| checker.value(1)).collect();
            checker.values.store.seq(&elements)
        })
        .collect();
    let table: Table = std::array::from_fn(|_| Some(few[checker.random.below(3)]));
    let seq = checker.of_table(&table);
    let size_of = |checker: &Checker, value: Value| checker.values.store.size_of(value).unwrap_or(0);
    let at = checker.random.below(3);
    // Where there is an element to insert, and room for it.
    let has_element = checker.values.guards.and(guard, element.1.domain());
    let bits = table_of(&checker.values.guards, has_element);
    let long: u16 = (0..ASSIGNMENTS)
        .filter(|&n| size_of(checker, table[n].unwrap()) >= at)
        .fold(0, |table, n| table | 1 << n);
    let inserting = guard_of(&mut checker.values.guards, &checker.variables, bits & long);
    let inserted = checker.values.seq_insert(&seq, at, element.1, inserting);
    let expected = map_table(&table, |n, seq| match bits & long & 1 << n {
        0 => seq,
        _ => checker.values.store.insert_at(seq?, Value::size(at), element.0[n]?).ok(),
    });
    checker.check(&expected, &inserted);
    let longer: u16 = (0..ASSIGNMENTS)
        .filter(|&n| size_of(checker, table[n].unwrap()) > at)
        .fold(0, |table, n| table | 1 << n);
    let removing = guard_of(&mut checker.values.guards, &checker.variables, bits & longer);
    let removed = checker.values.seq_remove(&seq, at, removing);
    let expected = map_table(&table, |n, seq| match bits & longer & 1 << n {
        0 => seq,
        _ => checker.values.store.remove(seq?, Value::size(at)).ok(),
    });
    checker.check(&expected, &removed);
    let pushed = checker.values.seq_push(&seq, element.1, has_element);
    let expected = map_table(&table, |n, seq| match bits & 1 << n {
        0 => seq,
        _ => {
            let end = Value::size(size_of(checker, seq?));
            checker.values.store.insert_at(seq?, end, element.0[n]?).ok()
        }
    });
    checker.check(&expected, &pushed);
}

/// A store into one field makes the field and what it lies in; no other part.
#[test]
fn an_update_of_one_field_makes_nothing_else() {
    let mut checker = Checker::new(11);
    for n_fields in [2, 10, 50] {
        let fields: Vec<Shared> = (0..n_fields)
            .map(|n| {
                let (a, b) = (Value::size(n), Value::size(n + 1));
                let guard = checker.variables[n % VARIABLES];
                checker.values.of_values(&[(a, guard), (b, guard.not())])
            })
            .collect();
        let tuple = checker.values.tuple(&fields, Guard::TRUE);
        let guard = checker.variables[0];
        let new = checker.values.lift(Value::NULL, guard);
        let before = checker.values.n_made;
        let changed = checker.values.with_part(&tuple, Kind::Tuple, Value::size(1), &new, guard);
        // Old values of the field elsewhere, the field, the tuple.
        assert_eq!(checker.values.n_made - before, 3);
        for (at, part) in changed.parts().iter().enumerate().filter(|(at, _)| *at != 1) {
            assert!(std::rc::Rc::ptr_eq(&part.summary, &tuple.parts()[at].summary));
        }
        assert!(matches!(changed.spine()[0].0.view(), View::Node(Kind::Tuple, _)));
    }
}

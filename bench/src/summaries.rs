//! Value summaries: operations a second, beside the same operation on every single value that the summary stands for.
//!
//! A summary of two to the n values is made over n choice variables; the baseline does each operation on the values one by one, as an explicit
//! search would. So the ratio says how many values the lifted operation is worth. What an update makes anew is counted, too.

use std::hint::black_box;
use std::time::Instant;

use allways_lifted::{Guard, Guards, Shared, Values};
use allways_machine::Store;
use allways_machine::value::{Kind, Value};

/// Choice variables of each summary.
const SIZES: [usize; 3] = [4, 8, 12];
/// Fields of the tuple, elements of the sequence, keys of the map.
const WIDTH: usize = 16;
const N_SECONDS: f64 = 0.2;

const NEVER: &dyn Fn() -> bool = &|| false;

/// A tuple, a sequence or a map of which the element at place `i` depends on the variable `i`, if there is one: so it has so many values.
struct Subject {
    kind: Kind,
    lifted: Shared,
    values: Vec<Value>,
}

fn compound(store: &mut Store, kind: Kind, elements: &[Value]) -> Value {
    match kind {
        Kind::Tuple => store.tuple(elements),
        Kind::Seq => store.seq(elements),
        _ => {
            let empty = store.empty(Kind::Map);
            let filled = elements
                .iter()
                .enumerate()
                .fold(empty, |map, (key, &element)| store.set(map, Value::size(key), element).unwrap_or(map));
            store.freeze(filled)
        }
    }
}

fn subject(values: &mut Values<'_>, kind: Kind, variables: &[Guard]) -> Subject {
    let n = variables.len();
    let mut all = Vec::with_capacity(1 << n);
    let mut elements = vec![Value::size(0); WIDTH];
    for assignment in 0..1usize << n {
        for (at, element) in elements.iter_mut().enumerate() {
            *element = Value::size(if at < n { assignment >> at & 1 } else { 7 });
        }
        all.push(compound(&mut values.store, kind, &elements));
    }
    let mut lifted = values.lift(all[0], Guard::TRUE);
    let one = values.lift(Value::size(1), Guard::TRUE);
    for (at, &variable) in variables.iter().enumerate() {
        lifted = values.with_part(&lifted, kind, Value::size(at), &one, variable);
    }
    Subject { kind, lifted, values: all }
}

/// Operations a second, by the clock.
fn rate(mut operation: impl FnMut(usize)) -> f64 {
    let start = Instant::now();
    let mut n = 0;
    loop {
        for _ in 0..16 {
            operation(n);
            n += 1;
        }
        let seconds = start.elapsed().as_secs_f64();
        if seconds > N_SECONDS {
            return n as f64 / seconds;
        }
    }
}

fn line(name: &str, n_values: usize, lifted: f64, single: f64, made: Option<u64>) {
    println!(
        "{name:34} {n_values:>7} {:>12.0} {:>12.0} {:>10.1} {:>6}",
        lifted,
        single,
        lifted / single,
        made.map_or_else(String::new, |made| made.to_string())
    );
}

/// Prints a line for each operation and size.
pub fn run() {
    println!(
        "{:34} {:>7} {:>12} {:>12} {:>10} {:>6}",
        "operation", "values", "lifted/s", "one by one/s", "ratio", "made"
    );
    for n in SIZES {
        let mut values = Values::new(Guards::new(usize::MAX, NEVER), Store::default());
        let variables: Vec<Guard> = (0..n).map(|_| values.guards.fresh()).collect();
        for (name, kind) in [("tuple", Kind::Tuple), ("sequence", Kind::Seq), ("map", Kind::Map)] {
            let subject = subject(&mut values, kind, &variables);
            operations(name, &mut values, &variables, &subject);
        }
        guards(&mut values, &variables);
    }
}

fn operations(name: &str, values: &mut Values<'_>, variables: &[Guard], subject: &Subject) {
    let Subject { kind, lifted, values: all } = subject;
    let n_values = all.len();
    let place = |n: usize| Value::size(n % WIDTH);
    let read = rate(|n| {
        black_box(lifted.part(*kind, place(n)));
    });
    let single = rate(|n| {
        for &value in all {
            black_box(values.store.nth(value, n % WIDTH));
        }
    });
    line(&format!("read an element of a {name}"), n_values, read, single, None);

    let new: Vec<Shared> = (2..6).map(|n| values.lift(Value::size(n), Guard::TRUE)).collect();
    let before = values.n_made;
    black_box(values.with_part(lifted, *kind, Value::size(0), &new[0], variables[1]));
    let made = values.n_made - before;
    let update = rate(|n| {
        black_box(values.with_part(lifted, *kind, place(n), &new[n % 4], variables[n % variables.len()]));
    });
    let single = rate(|n| {
        for &value in all {
            black_box(changed(&mut values.store, *kind, value, n % WIDTH, Value::size(2 + n % 4)));
        }
    });
    line(&format!("update an element of a {name}"), n_values, update, single, Some(made));

    let other = values.with_part(lifted, *kind, Value::size(0), &new[0], variables[1]);
    let same = rate(|_| {
        black_box(values.same(lifted, &other));
    });
    let single = rate(|_| {
        for pair in all.windows(2) {
            black_box(values.store.eq(pair[0], pair[1]));
        }
    });
    line(&format!("compare two of a {name}"), n_values, same, single, None);

    let halves: Vec<(Shared, Shared)> = variables
        .iter()
        .map(|&variable| (values.restrict(lifted, variable), values.restrict(&other, variable.not())))
        .collect();
    let merge = rate(|n| {
        let (a, b) = &halves[n % halves.len()];
        black_box(values.merge(a, b));
    });
    let restrict = rate(|n| {
        black_box(values.restrict(lifted, variables[n % variables.len()]));
    });
    // Single values have no counterpart: they are in one list or in another.
    println!("{:34} {n_values:>7} {merge:>12.0}", format!("merge halves of a {name}"));
    println!("{:34} {n_values:>7} {restrict:>12.0}", format!("restrict a {name}"));
    if *kind == Kind::Seq {
        let push = rate(|n| {
            black_box(values.seq_push(lifted, &new[n % 4], variables[n % variables.len()]));
        });
        let single = rate(|n| {
            for &value in all {
                let end = values.store.insert_at(value, Value::size(WIDTH), Value::size(2 + n % 4));
                black_box(end.map(|end| values.store.freeze(end))).ok();
            }
        });
        line("append to a sequence", n_values, push, single, None);
    }
}

/// A value with another element at a place, as its own.
fn changed(store: &mut Store, kind: Kind, value: Value, at: usize, element: Value) -> Value {
    let changed = match kind {
        Kind::Tuple => store.with_part(value, at, element),
        _ => store.set(value, Value::size(at), element).ok(),
    };
    store.freeze(changed.unwrap_or(value))
}

fn guards(values: &mut Values<'_>, variables: &[Guard]) {
    let n = variables.len();
    // Formulas that no cache has: each round has another seed.
    let mut seed = 0x9E37_79B9_7F4A_7C15u64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut known = variables.to_vec();
    let and = rate(|_| {
        let pick = |random: u64, known: &[Guard]| known[random as usize % known.len()];
        let (a, b) = (pick(random(), &known), pick(random(), &known));
        let made = values.guards.and(a, b.not());
        if known.len() < 4 * n {
            known.push(made.not());
        } else {
            let at = n + random() as usize % (known.len() - n);
            known[at] = if made == Guard::FALSE { a } else { made.not() };
        }
    });
    println!("{:34} {:>7} {:>12.0}", "conjunction of two guards", 1usize << n, and);
}

//! Schedulers against each other on random programs: inclusions, monotonicity, and DFW(K) against a
//! second definition, the compositional one in which every posted task is run at its post on guessed
//! vectors of states.

use std::collections::BTreeSet;

use allways_base::FileId;
use allways_boogie::generate::{Act, GenerateOptions, Sketch, Term, generate};
use allways_boogie::interp::{Code, ExploreOptions, Preemption, Scheduler, Value, explore, lower};
use allways_boogie::{check, entry_point, parse, print};

fn code(sketch: &Sketch) -> Code {
    let text = sketch.to_boogie();
    let parsed = parse(FileId::from_u32(0), &text);
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:#?}", parsed.diagnostics);
    let once = print(&parsed.program);
    assert_eq!(print(&parse(FileId::from_u32(0), &once).program), once);
    let (checked, diagnostics) = check(parsed.program);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    let entry = entry_point(&checked.program, None).unwrap();
    lower(checked, entry, Preemption::Explicit).unwrap()
}

type Finals = BTreeSet<Vec<bool>>;

fn finals(code: &Code, scheduler: Scheduler) -> Finals {
    let found = explore(code, &ExploreOptions { scheduler, ..ExploreOptions::default() });
    assert_eq!(found.limit, None);
    assert!(found.complete);
    let bool_of = |value: &Value| matches!(value, Value::Bool(true));
    found.finals.iter().map(|(globals, _)| globals.iter().map(bool_of).collect()).collect()
}

#[test]
fn delay_bounded_runs_are_concurrent_runs() {
    for seed in 0..400 {
        let sketch = generate(seed, &GenerateOptions::default());
        let code = code(&sketch);
        let all = finals(&code, Scheduler::Concurrent);
        let mut previous = (Finals::new(), Finals::new());
        for delays in 0..=2 {
            let df = finals(&code, Scheduler::Df { delays });
            let dfw = finals(&code, Scheduler::Dfw { delays });
            let text = || sketch.to_boogie();
            assert!(df.is_subset(&all) && dfw.is_subset(&all), "seed {seed}\n{}", text());
            assert!(previous.0.is_subset(&df) && previous.1.is_subset(&dfw), "seed {seed}\n{}", text());
            if delays == 0 {
                assert!(df.len() <= 1 && dfw.len() <= 1, "seed {seed} is not deterministic\n{}", text());
            }
            previous = (df, dfw);
        }
    }
}

#[test]
fn without_waits_the_two_schedulers_agree() {
    let options = GenerateOptions { waits: false, ..GenerateOptions::default() };
    for seed in 0..300 {
        let sketch = generate(seed, &options);
        let code = code(&sketch);
        for delays in 0..=2 {
            let df = finals(&code, Scheduler::Df { delays });
            let dfw = finals(&code, Scheduler::Dfw { delays });
            assert_eq!(df, dfw, "seed {seed}, {delays} delays\n{}", sketch.to_boogie());
        }
    }
}

#[test]
fn enough_delays_reach_every_concurrent_result() {
    // With a preemption point before every statement, every switch costs some delays, and runs are
    // short, so that few suffice for all of them.
    let options = GenerateOptions {
        max_procs: 3,
        max_acts: 3,
        max_posts: 3,
        yields: 100,
        ..GenerateOptions::default()
    };
    for seed in 0..150 {
        let sketch = generate(seed, &options);
        let code = code(&sketch);
        let all = finals(&code, Scheduler::Concurrent);
        assert_eq!(all, finals(&code, Scheduler::Dfw { delays: 8 }), "seed {seed}\n{}", sketch.to_boogie());
    }
}

#[test]
fn dfw_agrees_with_its_compositional_form() {
    for (n_globals, k, n_seeds) in [(1, 0, 300), (1, 1, 300), (2, 1, 60), (1, 2, 60)] {
        let options = GenerateOptions { n_globals, max_procs: 3, max_posts: 3, ..GenerateOptions::default() };
        for seed in 0..n_seeds {
            let sketch = generate(seed, &options);
            let operational = finals(&code(&sketch), Scheduler::Dfw { delays: k });
            let compositional = compositional(&sketch, k as usize);
            assert_eq!(operational, compositional, "seed {seed}, K = {k}\n{}", sketch.to_boogie());
        }
    }
}

// ---------------------------------------------------------------------------------------------
// The compositional form: section "DFW(K) translation" of the literature, with all guesses tried.

/// The globals in one round, a bit each.
type State = u8;
type Vector = Vec<State>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Config {
    /// What the running task sees, where the next task starts, and where this segment must end.
    view: Vector,
    next: Vector,
    hope: Vector,
    used: usize,
}

/// The running procedure: round, handles as (result, round).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Local {
    round: usize,
    handles: Vec<Option<(bool, usize)>>,
}

struct Compositional<'a> {
    sketch: &'a Sketch,
    k: usize,
    vectors: Vec<Vector>,
}

fn compositional(sketch: &Sketch, k: usize) -> Finals {
    let n_states = 1u8 << sketch.n_globals;
    let mut vectors: Vec<Vector> = vec![Vec::new()];
    for _ in 0..=k {
        vectors = vectors
            .iter()
            .flat_map(|vector| (0..n_states).map(|s| vector.iter().copied().chain([s]).collect::<Vector>()))
            .collect();
    }
    let semantics = Compositional { sketch, k, vectors: vectors.clone() };
    let mut finals = Finals::new();
    for start in vectors.iter().filter(|vector| vector[0] == 0) {
        for guess in &vectors {
            let config = Config { view: start.clone(), next: guess.clone(), hope: guess.clone(), used: 0 };
            for (config, _, _) in semantics.task(0, false, None, 0, config) {
                let chained = (1..=k).all(|i| config.next[i - 1] == start[i]);
                if config.view == config.hope && chained {
                    let last = config.next[k];
                    finals.insert((0..sketch.n_globals).map(|g| last >> g & 1 == 1).collect());
                }
            }
        }
    }
    finals
}

impl Compositional<'_> {
    /// All ways to run a procedure: configuration, result, round at the end.
    fn task(
        &self,
        proc: usize,
        arg: bool,
        handle: Option<(bool, usize)>,
        round: usize,
        config: Config,
    ) -> BTreeSet<(Config, bool, usize)> {
        let code = &self.sketch.procs[proc];
        let mut handles = vec![None; code.n_handles];
        if code.takes_handle {
            handles[0] = handle;
        }
        let mut states = BTreeSet::from([(config, Local { round, handles })]);
        for act in &code.acts {
            let mut after = BTreeSet::new();
            for (config, local) in states {
                self.act(*act, arg, config, local, &mut after);
            }
            states = after;
        }
        states
            .into_iter()
            .map(|(config, local)| {
                let result = read(code.result, arg, config.view[local.round]);
                (config, result, local.round)
            })
            .collect()
    }

    fn act(
        &self,
        act: Act,
        arg: bool,
        mut config: Config,
        mut local: Local,
        after: &mut BTreeSet<(Config, Local)>,
    ) {
        let round = local.round;
        match act {
            Act::Yield => {
                for jump in 0..=self.k - round.max(config.used) {
                    let (mut config, mut local) = (config.clone(), local.clone());
                    config.used += jump;
                    local.round += jump;
                    after.insert((config, local));
                }
            }
            Act::Set { global, to } => {
                let value = read(to, arg, config.view[round]);
                write(&mut config.view[round], global, value);
                after.insert((config, local));
            }
            Act::Assume { global, is } => {
                if (config.view[round] >> global & 1 == 1) == is {
                    after.insert((config, local));
                }
            }
            Act::Post { proc, arg: term, handle, pass } => {
                let given = read(term, arg, config.view[round]);
                let passed = pass.and_then(|handle| local.handles[handle]);
                for guess in &self.vectors {
                    let child = Config {
                        view: config.next.clone(),
                        next: guess.clone(),
                        hope: guess.clone(),
                        used: config.used,
                    };
                    for (end, result, end_round) in self.task(proc, given, passed, round, child) {
                        if end.view != end.hope {
                            continue;
                        }
                        let mut local = local.clone();
                        if let Some(handle) = handle {
                            local.handles[handle] = Some((result, end_round));
                        }
                        let config = Config {
                            view: config.view.clone(),
                            hope: config.hope.clone(),
                            next: end.next,
                            used: end.used,
                        };
                        after.insert((config, local));
                    }
                }
            }
            Act::Wait { handle, into } => {
                let Some((result, end_round)) = local.handles[handle] else { return };
                if config.view != config.hope {
                    return;
                }
                local.round = round.max(end_round);
                for guess in &self.vectors {
                    let mut config = Config {
                        view: config.next.clone(),
                        next: guess.clone(),
                        hope: guess.clone(),
                        used: config.used,
                    };
                    if let Some(global) = into {
                        write(&mut config.view[local.round], global, result);
                    }
                    after.insert((config, local.clone()));
                }
            }
            Act::Call { proc, arg: term, pass } => {
                let given = read(term, arg, config.view[round]);
                let passed = pass.and_then(|handle| local.handles[handle]);
                for (config, _, round) in self.task(proc, given, passed, round, config) {
                    after.insert((config, Local { round, ..local.clone() }));
                }
            }
        }
    }
}

fn read(term: Term, arg: bool, state: State) -> bool {
    match term {
        Term::Const(value) => value,
        Term::Global(global) => state >> global & 1 == 1,
        Term::Not(global) => state >> global & 1 == 0,
        Term::Arg => arg,
    }
}

fn write(state: &mut State, global: usize, value: bool) {
    *state = *state & !(1 << global) | u8::from(value) << global;
}

//! Lassos by explicit search: the non-termination translation and its solver against a scheduler that is written out.
//!
//! The definition is that of Emmi and Lal (2012), section 3, on configurations instead of programs. A run has two copies of
//! the globals, one for the stem and one for the loop, and a list of tasks in preorder of the tree of tasks. In each of K
//! rounds the list is read once from left to right, and each task runs there or is put off to the next round. When a
//! task posts another one, the fate of that one is chosen; tasks that compare alternate. Only what one task does comes from
//! the interpreter, so the search shares nothing with the translation.

use std::collections::{BTreeMap, HashMap, HashSet};

use allways_base::FileId;
use allways_boogie::interp::machine::{Machine, Stop};
use allways_boogie::interp::oracle::Odometer;
use allways_boogie::interp::{Assertions, Code, Conf, Domains, Limit, Preemption, Value, lower};
use allways_boogie::{analyze, entry_point};

use super::{causing, latching, unbounded};

/// Configurations that one search may explore.
const MAX_STATES: usize = 400_000;
/// Instructions of one task.
const MAX_STEPS: u64 = 1_000;

/// Where a lasso is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    pub rounds: u32,
    /// How often one procedure may occur on a path of the tree of tasks.
    pub recursion: u32,
    pub fair: bool,
}

/// The bounds of the program of a seed.
pub fn bounds_of(seed: u64) -> Bounds {
    let (rounds, recursion) = [(1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1)][(seed % 6) as usize];
    Bounds { rounds, recursion, fair: seed / 6 % 2 == 1 }
}

/// What a comparison said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Comparison {
    Same {
        found: Found,
        /// The whole graph says the same, or contains an infinite run.
        is_confirmed: bool,
    },
    /// More configurations than the limit, or no answer in time.
    TooLarge,
    Differ(String),
}

/// What a run over many seeds saw.
#[derive(Clone, Copy, Default, Debug)]
pub struct Statistics {
    pub n_programs: u64,
    pub n_diverging: u64,
    pub n_too_large: u64,
    /// No lasso whatever the bounds, by the conditions for posts; in how many of these the whole graph has no infinite run.
    pub n_never: u64,
    pub n_never_confirmed: u64,
}

impl Statistics {
    pub fn add(&mut self, comparison: &Comparison) {
        self.n_programs += 1;
        match comparison {
            Comparison::Same { found, is_confirmed } => {
                self.n_diverging += u64::from(*found == Found::Lasso);
                self.n_never += u64::from(*found == Found::Never);
                self.n_never_confirmed += u64::from(*found == Found::Never && *is_confirmed);
            }
            Comparison::TooLarge => self.n_too_large += 1,
            Comparison::Differ(_) => {}
        }
    }
}

/// An answer by translation and solver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    Lasso,
    NoneWithinBounds,
    /// None whatever the bounds: no task can cause another of its kind.
    Acyclic,
    /// None whatever the bounds: the conditions for some posts contradict each other in a loop.
    Never,
}

impl Found {
    fn is_unbounded(self) -> bool {
        matches!(self, Found::Acyclic | Found::Never)
    }
}

/// Whether a program has a lasso within bounds, by translation and solver; `None` if that was not decided. An error is a lasso
/// that does not replay, or anything else that must not happen.
pub type Ask<'a> = &'a dyn Fn(&str, Bounds) -> Result<Option<Found>, String>;

/// Compares the program of a seed.
pub fn compare_seed(seed: u64, ask: Ask<'_>) -> (String, Comparison) {
    let text = if seed / 12 % 2 == 1 { latching::generate(seed) } else { causing::generate(seed) };
    let comparison = compare(&text, bounds_of(seed), ask);
    (text, comparison)
}

pub fn compare(text: &str, bounds: Bounds, ask: Ask<'_>) -> Comparison {
    try_compare(text, bounds, ask).unwrap_or_else(|why| Comparison::Differ(format!("{bounds:?}: {why}")))
}

fn try_compare(text: &str, bounds: Bounds, ask: Ask<'_>) -> Result<Comparison, String> {
    let Some(has_lasso) = has_lasso(text, bounds)? else { return Ok(Comparison::TooLarge) };
    let is_endless = has_infinite_run(text, bounds.fair)?;
    if has_lasso && is_endless == Some(false) {
        return Err("explicit search has a lasso, and the whole graph has no infinite run".to_owned());
    }
    let Some(found) = ask(text, bounds)? else { return Ok(Comparison::TooLarge) };
    if (found == Found::Lasso) != has_lasso {
        let expected = if has_lasso { "a lasso" } else { "no lasso" };
        return Err(format!("by explicit search it has {expected}, by translation and solver {found:?}"));
    }
    if found.is_unbounded() && is_endless == Some(true) {
        return Err(format!("{found:?} whatever the bounds, and the graph has an infinite run"));
    }
    Ok(Comparison::Same { found, is_confirmed: is_endless.is_some() })
}

/// Whether a program has an infinite run, fair if that is asked, whatever the bounds; `None` if what was explored does not decide it.
///
/// # Errors
/// When it is no program over finite data.
pub fn has_infinite_run(text: &str, fair: bool) -> Result<Option<bool>, String> {
    let code = lowered(text)?;
    let mut tasks = Tasks::new(&code);
    let starts = tasks.starts().map_err(|limit| limit.to_string())?;
    tasks.close(&starts).map_err(|limit| limit.to_string())?;
    Ok(unbounded::Graph::new(&tasks, &starts).has_infinite_run(fair))
}

fn lowered(text: &str) -> Result<Code, String> {
    let (checked, diagnostics) = analyze(FileId::from_u32(0), text);
    let checked = checked.ok_or_else(|| format!("{diagnostics:#?}"))?;
    let entry = entry_point(&checked.program, None).map_err(|d| d.message.clone())?;
    lower(checked, entry, Preemption::Serial).map_err(|limit| limit.to_string())
}

/// Whether a program has a lasso within bounds; `None` if there is too much to explore.
///
/// # Errors
/// When it is no program over finite data.
pub fn has_lasso(text: &str, bounds: Bounds) -> Result<Option<bool>, String> {
    let code = lowered(text)?;
    let mut tasks = Tasks::new(&code);
    let starts = tasks.starts().map_err(|limit| limit.to_string())?;
    let mut n_states = 0;
    // The globals where the loop begins. Each round of this loop learns of more of them.
    let mut guess = 0;
    tasks.close(&starts).map_err(|limit| limit.to_string())?;
    while guess < tasks.globals.len() as u32 {
        let mut search = Search { tasks: &tasks, bounds, guess, paths: Vec::new(), seen: HashSet::default() };
        match search.run(&starts, &mut n_states) {
            Some(true) => return Ok(Some(true)),
            Some(false) => {}
            None => return Ok(None),
        }
        guess += 1;
    }
    Ok(Some(false))
}

/// What a task did: the globals after it, and the tasks that it posted.
pub(super) type Outcome = (u32, Vec<u32>);

/// Tasks by procedure and arguments, valuations of the globals, and what each of the former does in each of the latter.
pub(super) struct Tasks<'a> {
    code: &'a Code,
    /// Procedure and arguments.
    pub kinds: Vec<(usize, Vec<Value>)>,
    /// A configuration in which the task is pending, and its place there.
    pending: Vec<(Conf, usize)>,
    globals: Vec<Vec<Value>>,
    /// By task and globals.
    pub outcomes: HashMap<(u32, u32), Vec<Outcome>>,
}

impl<'a> Tasks<'a> {
    fn new(code: &'a Code) -> Self {
        Tasks {
            code,
            kinds: Vec::new(),
            pending: Vec::new(),
            globals: Vec::new(),
            outcomes: HashMap::default(),
        }
    }

    /// What the entry point does.
    fn starts(&mut self) -> Result<Vec<Outcome>, Limit> {
        let mut confs = Vec::new();
        self.each(|machine| machine.start(), |start| confs.extend(start))?;
        let mut outcomes = Vec::new();
        for conf in confs {
            outcomes.extend(self.run(&conf, 0)?);
        }
        outcomes.sort();
        outcomes.dedup();
        Ok(outcomes)
    }

    /// What every task does in every valuation that occurs.
    fn close(&mut self, starts: &[Outcome]) -> Result<(), Limit> {
        debug_assert!(!starts.is_empty() || self.globals.is_empty());
        let (mut n_kinds, mut n_globals) = (0, 0);
        while (n_kinds, n_globals) != (self.kinds.len(), self.globals.len()) {
            (n_kinds, n_globals) = (self.kinds.len(), self.globals.len());
            for kind in 0..n_kinds as u32 {
                for globals in 0..n_globals as u32 {
                    if self.outcomes.contains_key(&(kind, globals)) {
                        continue;
                    }
                    let (mut conf, task) = self.pending[kind as usize].clone();
                    conf.globals.clone_from(&self.globals[globals as usize]);
                    let outcomes = self.run(&conf, task)?;
                    self.outcomes.insert((kind, globals), outcomes);
                }
            }
        }
        Ok(())
    }

    fn run(&mut self, conf: &Conf, task: usize) -> Result<Vec<Outcome>, Limit> {
        let mut ends = Vec::new();
        self.each(
            |machine| {
                let mut conf = conf.clone();
                let stop = machine.run_task(&mut conf, task)?;
                Ok((conf, stop))
            },
            |(conf, stop)| {
                if stop == Stop::Completed {
                    ends.push(conf);
                }
            },
        )?;
        let mut outcomes = Vec::new();
        for end in ends {
            let posted = end.pending(self.code).ok_or(Limit::Schedule)?;
            let posted = posted.into_iter().filter(|pending| pending.task >= conf.tasks.len());
            let mut posts = Vec::new();
            for pending in posted {
                let kind = (pending.procedure, pending.args);
                let known = self.kinds.iter().position(|known| *known == kind);
                let number = known.unwrap_or_else(|| {
                    self.kinds.push(kind);
                    self.pending.push((end.clone(), pending.task));
                    self.kinds.len() - 1
                });
                posts.push(number as u32);
            }
            let known = self.globals.iter().position(|known| *known == end.globals);
            let globals = known.unwrap_or_else(|| {
                self.globals.push(end.globals.clone());
                self.globals.len() - 1
            });
            outcomes.push((globals as u32, posts));
        }
        outcomes.sort();
        outcomes.dedup();
        Ok(outcomes)
    }

    /// Calls `f` once for each combination of choices.
    fn each<T>(
        &self,
        f: impl Fn(&mut Machine<'_>) -> Result<T, Limit>,
        mut then: impl FnMut(T),
    ) -> Result<(), Limit> {
        let domains = Domains::default();
        let mut odometer = Odometer::default();
        loop {
            let mut complete = true;
            let mut machine = Machine {
                code: self.code,
                domains: &domains,
                assertions: Assertions::Exit,
                oracle: &mut odometer,
                complete: &mut complete,
                events: None,
                n_steps_left: MAX_STEPS,
                stop_after_post: false,
            };
            then(f(&mut machine)?);
            if !odometer.advance() {
                return Ok(());
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Role {
    Stem,
    Loop,
    /// Pending where the loop begins.
    Pro,
    /// Pending where it ends.
    Anti,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Entry {
    role: Role,
    kind: u32,
    /// The procedures above it in the tree of tasks, itself included: a place in [`Search::paths`].
    path: u32,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    round: u32,
    /// Where in the list the round has got to.
    at: usize,
    tasks: Vec<Entry>,
    stem: u32,
    looped: u32,
    /// The task of the start that waits for its match.
    unmatched: Option<u32>,
    has_loop: bool,
    /// Under fairness: tasks that the loop has run or will, and that it leaves for ever.
    dispatched: u64,
    dropped: u64,
}

struct Search<'a> {
    tasks: &'a Tasks<'a>,
    bounds: Bounds,
    guess: u32,
    /// How often each procedure occurs.
    paths: Vec<BTreeMap<usize, u32>>,
    seen: HashSet<State>,
}

impl Search<'_> {
    /// Whether there is a lasso whose loop begins with the guess; `None` beyond the limit.
    fn run(&mut self, starts: &[Outcome], n_states: &mut usize) -> Option<bool> {
        let root = self.path(BTreeMap::new());
        let mut work = Vec::new();
        let before = State {
            round: 0,
            at: 0,
            tasks: Vec::new(),
            stem: 0,
            looped: self.guess,
            unmatched: None,
            has_loop: false,
            dispatched: 0,
            dropped: 0,
        };
        for (globals, posts) in starts {
            let state = State { stem: *globals, ..before.clone() };
            work.extend(self.with_posts(state, Role::Stem, posts, root));
        }
        while let Some(state) = work.pop() {
            if self.is_lasso(&state) {
                return Some(true);
            }
            if self.is_hopeless(&state) || !self.seen.insert(state.clone()) {
                continue;
            }
            *n_states += 1;
            if *n_states > MAX_STATES {
                return None;
            }
            self.expand(&state, &mut work);
        }
        Some(false)
    }

    fn is_lasso(&self, state: &State) -> bool {
        state.tasks.is_empty()
            && state.has_loop
            && state.unmatched.is_none()
            && (state.stem, state.looped) == (self.guess, self.guess)
            && (!self.bounds.fair || state.dropped & !state.dispatched == 0)
    }

    /// Whether nothing that is left can mend what is wrong.
    fn is_hopeless(&self, state: &State) -> bool {
        let has = |role: Role| state.tasks.iter().any(|task| task.role == role);
        !has(Role::Stem)
            && (state.stem != self.guess
                || !has(Role::Loop)
                    && (state.looped != self.guess || !state.has_loop || state.tasks.is_empty()))
    }

    fn expand(&mut self, state: &State, work: &mut Vec<State>) {
        let Some(&Entry { role, kind, path }) = state.tasks.get(state.at) else {
            if state.round + 1 < self.bounds.rounds {
                work.push(State { round: state.round + 1, at: 0, ..state.clone() });
            }
            return;
        };
        if state.round + 1 < self.bounds.rounds {
            work.push(State { at: state.at + 1, ..state.clone() });
        }
        let mut next = state.clone();
        next.tasks.remove(state.at);
        match role {
            Role::Pro if state.unmatched.is_none() => work.push(State { unmatched: Some(kind), ..next }),
            Role::Anti if state.unmatched == Some(kind) => work.push(State { unmatched: None, ..next }),
            Role::Pro | Role::Anti => {}
            Role::Stem => {
                for (globals, posts) in &self.tasks.outcomes[&(kind, state.stem)] {
                    work.extend(self.with_posts(State { stem: *globals, ..next.clone() }, role, posts, path));
                }
            }
            Role::Loop => {
                for (globals, posts) in &self.tasks.outcomes[&(kind, state.looped)] {
                    let state = State { looped: *globals, ..next.clone() };
                    work.extend(self.with_posts(state, role, posts, path));
                }
            }
        }
    }

    /// The state after tasks were posted, with every combination of their fates. They come where their parent was.
    fn with_posts(&mut self, state: State, role: Role, posts: &[u32], path: u32) -> Vec<State> {
        let place = state.at;
        let mut states = vec![(state, place)];
        for &kind in posts {
            let child = self.child(path, kind);
            let bit = 1u64 << kind.min(63);
            let mut next = Vec::new();
            for (state, place) in &states {
                let mut with = |entries: &[Entry], change: &dyn Fn(&mut State)| {
                    let mut state = state.clone();
                    let mut place = *place;
                    for &entry in entries {
                        state.tasks.insert(place, entry);
                        place += 1;
                    }
                    change(&mut state);
                    next.push((state, place));
                };
                let entry = |role: Role, path: u32| Entry { role, kind, path };
                match role {
                    Role::Stem => {
                        if let Some(child) = child {
                            with(&[entry(Role::Pro, 0), entry(Role::Loop, child)], &|state| {
                                state.has_loop = true;
                                state.dispatched |= bit;
                            });
                            with(&[entry(Role::Stem, child)], &|_| {});
                        }
                        if !self.bounds.fair {
                            with(&[], &|_| {});
                        }
                    }
                    _ => {
                        with(&[entry(Role::Anti, 0)], &|_| {});
                        with(&[], &|state| state.dropped |= bit);
                        if let Some(child) = child {
                            with(&[entry(Role::Loop, child)], &|state| state.dispatched |= bit);
                        }
                    }
                }
            }
            states = next;
        }
        states.into_iter().map(|(state, _)| state).collect()
    }

    /// The path of a task below another, unless it is too deep.
    fn child(&mut self, path: u32, kind: u32) -> Option<u32> {
        let procedure = self.tasks.kinds[kind as usize].0;
        let mut counts = self.paths[path as usize].clone();
        let count = counts.entry(procedure).or_default();
        *count += 1;
        (*count <= self.bounds.recursion).then(|| self.path(counts))
    }

    fn path(&mut self, counts: BTreeMap<usize, u32>) -> u32 {
        let known = self.paths.iter().position(|known| *known == counts);
        let place = known.unwrap_or_else(|| {
            self.paths.push(counts);
            self.paths.len() - 1
        });
        place as u32
    }
}

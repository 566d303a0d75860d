//! The search proper: order of slots, saturation, properties, verdict.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use allways_machine::{Executable, Simplify};
use allways_mdd::{Diagrams, Events, Halt, Limits, Node, Reach, Usage};
use allways_run::{Cancel, Counterexample, Observer, Progress, StopReason, Verdict};

use super::filters::{self, FilterNames};
use super::names::{owner_name, part_name};
use super::order::{self, WalkedRun, Walks, Weight};
use super::path::{self, Goal};
use super::report::{SlotOrder, Split, SymbolicFigures, SymbolicOptions, SymbolicReport};
use super::steps::{LeftMovers, MemoSteps};
use super::{invariants, liveness, stated, steps};
use crate::error::InternalError;
use crate::liveness::Fairness;
use crate::search::context::{Context, Explored, SearchEnd, Tally};
use crate::search::counterexample::{self, StepName};
use crate::search::liveness::graph;
use crate::search::local::states::{Cut, LocalStateId, LocalStates};
use crate::search::lock;
use crate::search::options::{ProveOptions, SearchBounds, StoreKind};
use crate::search::prove as explicit;
use crate::search::reduce::data_independence::{self, Attempt, Names};
use crate::search::report::Covered;
use crate::search::stop::StickyCancel;
use crate::search::survey::{Notes, Survey};
use crate::search::{Order, Reductions, Setting};

/// Recursion goes down the levels, and at each of them down again.
const STACK_BYTES: usize = 1 << 30;
/// Nodes that each order may use in the first round of the race of orders, and how much more in the next.
const FIRST_BUDGET: usize = 4_000;
const BUDGET_GROWTH: usize = 8;
/// Local states of a machine or monitor after which a search that splits it into several levels takes turns with the one that does not.
/// Whole local states are faster as long as they fit, since a handler that reads most variables runs once for most of them in either case.
const SPLIT_AFTER: usize = 200_000;
/// The same, and the first budget, for tests.
const SMALL: (usize, usize) = (2, 1);
/// Operations on diagrams for a short run to a violation that a walk has found.
const WALKED_OPERATIONS: u64 = 2_000_000;
/// Operations for each of these nodes; and local steps, of all rounds, where two searches take turns.
const OPERATIONS_PER_NODE: u64 = 50;
const RUNS_PER_NODE: u64 = 5;

pub(crate) type Search<'a> = Reach<'a, MemoSteps<'a>>;

/// Why symbolic exploration has no answer under these options, if so: one sentence for users.
pub fn unsupported(exe: &Executable, options: &ProveOptions, filters: &FilterNames) -> Option<String> {
    if let Some(problem) = filters.unsupported(exe, false) {
        return Some(problem);
    }
    let has_liveness = options.fairness.is_some() && graph::has_liveness(exe);
    if has_liveness && !filters.is_empty() {
        return Some(
            "filters together with liveness; `--fairness none` turns liveness checking off".to_owned(),
        );
    }
    if let Some(machine) = exe.invariants.iter().find_map(|invariant| invariant.unattached) {
        let name = exe.machine_name(machine);
        return Some(format!("an invariant about the spec `{name}`, which the test does not attach"));
    }
    if options.bounds.machines.is_some() {
        return Some("symbolic exploration with a bound on machines".to_owned());
    }
    if has_liveness && options.fairness == Some(Fairness::Weak) {
        return Some("liveness under `weak` fairness in symbolic exploration".to_owned());
    }
    let is_bounded = options.bounds != SearchBounds::default() || options.max_choices.is_some();
    if has_liveness && is_bounded {
        let what = "liveness within bounds in symbolic exploration; `--fairness none` leaves it out";
        return Some(what.to_owned());
    }
    None
}

/// Reaches every configuration of a test, within bounds, as sets.
///
/// # Errors
/// When a violation was found that does not replay: a fault of Allways.
pub fn prove(
    exe: &Arc<Executable>,
    options: &SymbolicOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<SymbolicReport, InternalError> {
    let (mut found, _) = search(exe, options, observer, cancel, None)?;
    if options.checks_filters && !options.filters.is_empty() {
        let unfiltered = SymbolicOptions { filters: FilterNames::default(), ..options.clone() };
        let (mut whole, _) = search(exe, &unfiltered, observer, cancel, None)?;
        let filtered = (&found.report.verdict, &found.figures.seen);
        let comparison = filters::compare(exe, filtered, (&whole.report.verdict, &whole.figures.seen));
        whole.figures.comparison = Some(comparison);
        found = whole;
    }
    Ok(found)
}

/// The same, which also says what was reached: one configuration after the other, so it is for small programs.
///
/// # Errors
/// As [`prove`].
pub fn survey(
    exe: &Arc<Executable>,
    options: &SymbolicOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<(SymbolicReport, Survey), InternalError> {
    search(exe, options, observer, cancel, Some(Notes::default()))
}

fn search(
    exe: &Arc<Executable>,
    options: &SymbolicOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
    notes: Option<Notes>,
) -> Result<(SymbolicReport, Survey), InternalError> {
    // Invariants are about the values that variables have, also those that nothing reads.
    let mut options = options.clone();
    if options.finds_invariants || !exe.invariants.is_empty() {
        let collection_order = options.search.reductions.collection_order;
        options.search.reductions = Reductions { collection_order, ..Reductions::NONE };
    }
    if !options.filters.is_empty() {
        // They are about the next send of a machine, and know no outboxes.
        options.search.reductions.eager_handling = false;
    }
    let options = &options;
    data_independence::refine(
        exe,
        (data_independence::applies(exe, &options.search), Names::None),
        cancel,
        |Attempt { plan, cancel, .. }| {
            let search = ProveOptions { data: plan, ..options.search.clone() };
            let options = SymbolicOptions { search, ..options.clone() };
            search_by_plan(exe, &options, observer, cancel, notes.as_ref().map(|_| Notes::default()))
        },
        |found| found.as_ref().is_ok_and(|(found, _)| matches!(found.report.verdict, Verdict::Violated(_))),
    )
}

/// The search, with the answers that its plan says.
fn search_by_plan(
    exe: &Arc<Executable>,
    options: &SymbolicOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
    notes: Option<Notes>,
) -> Result<(SymbolicReport, Survey), InternalError> {
    if let Some(reason) = crate::search::observed_text(exe) {
        return Ok((not_begun(exe, options, reason), Survey::default()));
    }
    on_large_stack(|| run(exe, options, observer, cancel, notes)).unwrap_or_else(|| {
        let bytes = options.search.limits.memory_bytes.unwrap_or(0);
        Ok((not_begun(exe, options, StopReason::Memory { bytes }), Survey::default()))
    })
}

/// Runs a search on a stack that is deep enough for it. No room for the stack is no room for a search.
pub(super) fn on_large_stack<T: Send>(search: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = builder.spawn_scoped(scope, search).ok()?;
        Some(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

fn not_begun(exe: &Arc<Executable>, options: &SymbolicOptions, reason: StopReason) -> SymbolicReport {
    let locals = Mutex::new(LocalStates::new(
        exe,
        options.search.limits,
        Default::default(),
        false,
        Simplify::default(),
        false,
        &|| None,
    ));
    let explored = explored(SearchEnd::Stopped(reason));
    SymbolicReport {
        report: explicit::report(exe, &options.search, &locals, explored, None),
        figures: SymbolicFigures::default(),
    }
}

pub(super) fn explored(end: SearchEnd) -> Explored {
    let tally = Tally { n_configurations: 1, n_machines: 1, ..Tally::default() };
    Explored { tally, ..Explored::nothing(end) }
}

/// The options of explicit search that have a meaning here.
fn effective(exe: &Executable, options: &ProveOptions) -> ProveOptions {
    let given = options.reductions;
    let reductions = Reductions {
        dead_variables: given.dead_variables,
        unread_payloads: given.unread_payloads,
        collection_order: given.collection_order,
        eager_handling: given.eager_handling,
        ..Reductions::NONE
    };
    let setting = Setting { is_symbolic: true, ..options.setting(exe, graph::has_liveness(exe)) };
    ProveOptions {
        order: Order::Breadth,
        store: StoreKind::Exact,
        reductions: reductions.within(&setting),
        n_threads: 1,
        ..options.clone()
    }
}

/// What a search came to.
enum End {
    Exhausted,
    Violated(Box<Counterexample>),
    Stopped(StopReason),
    /// A limit was met on the way from a violation to a run that shows it.
    Seen(StopReason),
    /// No run leads to the goal.
    Unreachable,
}

fn run(
    exe: &Arc<Executable>,
    options: &SymbolicOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
    notes: Option<Notes>,
) -> Result<(SymbolicReport, Survey), InternalError> {
    let search = effective(exe, &options.search);
    let has_liveness = search.fairness.is_some() && graph::has_liveness(exe);
    let simplify = Simplify {
        counters: search.reductions.dead_variables && !has_liveness,
        choose_counts: has_liveness || !exe.network.is_default(),
        ..search.reductions.simplify()
    };
    let sticky = StickyCancel::new(cancel);
    let shows = AtomicBool::new(false);
    let patience = Patience { sticky: &sticky, cancel, shows: &shows };
    let mut locals = LocalStates::new(exe, search.limits, search.bounds, false, simplify, false, &patience);
    locals.max_choices = search.max_choices;
    locals.set_data(search.data.clone());
    let locals = Mutex::new(locals);
    let cx = Context { notes: notes.as_ref(), ..Context::plain(&search, &locals, observer, &sticky) };
    let stopped = RefCell::new(None);
    let mut engine = Engine {
        cx,
        exe,
        options,
        shows: &shows,
        stopped: &stopped,
        starts: Vec::new(),
        explored: explored(SearchEnd::Exhausted),
        figures: SymbolicFigures::default(),
        checks_liveness: has_liveness,
    };
    let end = engine.search()?;
    let Engine { mut explored, figures, .. } = engine;
    let mut counterexample = None;
    let mut seen = None;
    explored.end = match end {
        End::Exhausted => match sticky.first_reason() {
            // A step was left out because of a limit.
            Some(reason) => SearchEnd::Stopped(reason),
            None => SearchEnd::Exhausted,
        },
        End::Violated(found) => {
            counterexample = Some(*found);
            SearchEnd::Exhausted
        }
        End::Stopped(reason) => SearchEnd::Stopped(reason),
        End::Unreachable => return Err(no_run()),
        End::Seen(reason) => {
            seen = Some(crate::search::report::SeenViolation { n_steps: None });
            SearchEnd::Stopped(reason)
        }
    };
    let is_finite = figures.configurations.is_some() && matches!(explored.end, SearchEnd::Stopped(_));
    let mut report = explicit::report(exe, &search, &locals, explored, counterexample);
    report.remarks.seen = seen;
    if is_finite && seen.is_none() && report.statistics.covered != Covered::UpToUnknown {
        report.statistics.covered = Covered::Finite;
    }
    let survey = notes.as_ref().map_or_else(Survey::default, |notes| notes.survey(&lock(&locals)));
    Ok((SymbolicReport { report, figures }, survey))
}

/// A reason to stop that was given once stays ([`StickyCancel`]). While a run is shown that ends in a violation, only the user stops
/// handlers: they were run before, and a violation that was found must not be lost.
struct Patience<'a> {
    sticky: &'a StickyCancel<'a>,
    cancel: &'a dyn Cancel,
    shows: &'a AtomicBool,
}

impl Cancel for Patience<'_> {
    fn reason(&self) -> Option<StopReason> {
        if self.shows.load(Ordering::Relaxed) {
            return self.cancel.reason().filter(|reason| *reason == StopReason::Interrupted);
        }
        self.sticky.reason()
    }
}

/// A search in a race, between two rounds.
struct Rival<'a> {
    steps: MemoSteps<'a>,
    /// Those that have not met a limit of memory.
    orders: Vec<Vec<u32>>,
    /// All orders were tried that there are.
    has_all: bool,
}

/// What comes of a round.
enum Round<'a> {
    Found(Box<Search<'a>>, Node),
    Stopped(Box<MemoSteps<'a>>, Vec<u32>),
    /// A limit of the round was met.
    Left(Box<Rival<'a>>),
}

/// What a rival may use in a round.
#[derive(Clone, Copy)]
struct RoundLimits {
    budget: usize,
    is_alone: bool,
    /// What the others use.
    n_bytes: usize,
}

pub(super) struct Engine<'a> {
    pub cx: Context<'a>,
    pub exe: &'a Arc<Executable>,
    pub options: &'a SymbolicOptions,
    /// A run is shown.
    pub shows: &'a AtomicBool,
    /// Why the stop callback asked for an end.
    pub stopped: &'a RefCell<Option<StopReason>>,
    /// The configurations after the first step, each with the answers that lead there.
    pub starts: Vec<(Vec<u32>, Vec<LocalStateId>)>,
    pub explored: Explored,
    pub figures: SymbolicFigures,
    pub checks_liveness: bool,
}

impl<'a> Engine<'a> {
    fn search(&mut self) -> Result<End, InternalError> {
        let beginning = lock(self.cx.locals).begin();
        self.explored.unknown = beginning.unknown;
        if let Some(answers) = beginning.violations.into_iter().next() {
            let steps = [StepName::first(answers)];
            return counterexample::counterexample(self.exe, self.cx.options.limits, &steps)
                .map(|found| End::Violated(Box::new(found)));
        }
        self.starts = beginning.vectors;
        if self.starts.is_empty() {
            return Ok(End::Exhausted);
        }
        let mut steps = MemoSteps::new(self.cx);
        let filters = self.options.filters.resolve(self.exe).unwrap_or_default();
        steps.left = LeftMovers::new(self.exe, filters.left_movers);
        steps.blocks.split_after = self.split_after();
        steps.blocks.leaves_splitting = matches!(self.options.split, Split::Large | Split::Small);
        steps.outboxes.is_on = self.is_eager();
        let starts: Vec<Vec<LocalStateId>> = self.starts.iter().map(|(_, vector)| vector.clone()).collect();
        let walks = order::walk(self.cx, &mut steps.expander, &starts);
        if let Some(run) = &walks.violation {
            steps.has_violation = true;
            // The walks know no filters.
            steps.left = None;
            let order = self.orders(&walks, false).swap_remove(0);
            // A bound may cut off one party of a step of which another breaks a property.
            let is_good = !self.options.shortest && self.cx.options.bounds == SearchBounds::default();
            let run = is_good.then_some(run);
            return Ok(self.violated(steps, &order, run)?.unwrap_or(End::Unreachable));
        }
        let (mut reach, reached) = loop {
            match self.race(steps, &walks) {
                Ok(found) => break found,
                Err((failed, order)) if failed.has_violation && failed.stops_at_violation => {
                    steps = match self.violated(*failed, &order, None)? {
                        Ok(end) => return Ok(end),
                        // A bound cuts off all steps that might have broken a property: they are distinguished at the end.
                        Err(steps) => *steps,
                    }
                }
                Err((steps, _)) => {
                    self.note_steps(&steps);
                    return Ok(End::Stopped(self.stop_reason()));
                }
            }
        };
        let end = self.decide(&mut reach, reached);
        self.note(&reach);
        self.note_steps(&reach.steps);
        end
    }

    /// Bounds and crashes are about machines that stop before each send. So is what is said of local states, and laps of infinite runs.
    fn is_eager(&self) -> bool {
        self.cx.options.reductions.eager_handling && !self.options.finds_invariants
    }

    /// Bounds and crashes are about whole local states; so are the hot and cold steps of monitors. A handler that is run on parts may meet
    /// a bound on answers that no run of the program meets.
    fn split_after(&self) -> Option<usize> {
        let is_whole = self.cx.options.bounds != SearchBounds::default()
            || self.cx.options.max_choices.is_some()
            || self.exe.network.has_crashes()
            || !self.options.filters.is_empty()
            || self.checks_liveness;
        match self.options.split {
            Split::Never => None,
            _ if is_whole => None,
            Split::Large => Some(SPLIT_AFTER),
            Split::Small => Some(SMALL.0),
            Split::Always => Some(0),
        }
    }

    /// Orders to try, the most promising first: those that are tried without delay, or all.
    fn orders(&self, walks: &Walks, all: bool) -> Vec<Vec<u32>> {
        let n_slots = walks.n_slots;
        let weights: &[Weight] = match self.options.order {
            SlotOrder::AsMet => return vec![(0..n_slots as u32).collect()],
            SlotOrder::Random(seed) => return vec![order::shuffled(n_slots, seed)],
            SlotOrder::Found if all => &[Weight::WithoutHubs, Weight::Frequency, Weight::Equal],
            SlotOrder::Found => &[Weight::WithoutHubs],
        };
        let mut orders: Vec<Vec<u32>> = Vec::new();
        for &weight in weights {
            let found = order::anneal(walks, weight, 1);
            let reversed = found.iter().rev().copied().collect();
            for order in [found, reversed] {
                if !orders.contains(&order) {
                    orders.push(order);
                }
            }
        }
        orders
    }

    /// Saturates in one order after the other, each within a budget that grows from round to round. When a slot has very many local
    /// states, a search in which it is split takes turns with the one in which it is whole: it is not known which of them ends first.
    pub fn race(
        &mut self,
        steps: MemoSteps<'a>,
        walks: &Walks,
    ) -> Result<(Search<'a>, Node), (Box<MemoSteps<'a>>, Vec<u32>)> {
        let mut budget = if self.options.split == Split::Small { SMALL.1 } else { FIRST_BUDGET };
        let mut rivals = vec![Rival { steps, orders: self.orders(walks, false), has_all: false }];
        loop {
            let mut left: Vec<Rival<'a>> = Vec::new();
            let is_alone = rivals.len() == 1;
            let mut rivals_left = rivals.into_iter();
            while let Some(rival) = rivals_left.next() {
                let others = left.iter().chain(rivals_left.as_slice());
                let (n_bytes, n_runs) = others.fold((0, 0), |(n_bytes, n_runs), rival| {
                    (n_bytes + rival.steps.n_bytes(), n_runs + rival.steps.n_handler_runs())
                });
                let limits = RoundLimits { budget, is_alone, n_bytes };
                match self.round(rival, walks, limits) {
                    Round::Left(rival) => left.push(*rival),
                    Round::Found(mut reach, reached) => {
                        reach.steps.blocks.n_runs += n_runs;
                        return Ok((*reach, reached));
                    }
                    Round::Stopped(mut steps, order) => {
                        steps.blocks.n_runs += n_runs;
                        return Err((steps, order));
                    }
                }
            }
            if let [whole] = &mut left[..]
                && whole.steps.blocks.leaves_splitting
                && whole.steps.blocks.has_wishes()
            {
                let mut steps = MemoSteps::new(self.cx);
                steps.outboxes.is_on = whole.steps.outboxes.is_on;
                if steps.split_like(&mut whole.steps) {
                    left.push(Rival { steps, orders: self.orders(walks, false), has_all: false });
                }
                if left.len() == 1 {
                    left[0].steps.blocks.settle();
                }
            }
            let last = left.len() - 1;
            if left.iter().all(|rival| rival.orders.is_empty()) {
                let bytes = self.cx.options.limits.memory_bytes.unwrap_or(0);
                self.stopped.replace(Some(StopReason::Memory { bytes }));
                return Err((Box::new(left.swap_remove(last).steps), Vec::new()));
            }
            left.retain(|rival| !rival.orders.is_empty());
            if let (1, [last]) = (last, &mut left[..]) {
                // The other one was the last to try.
                last.steps.blocks.settle();
            }
            rivals = left;
            budget = budget.saturating_mul(BUDGET_GROWTH);
        }
    }

    /// One round of a race: all orders that are left. The rival comes back without those that have met a limit of memory.
    fn round(&mut self, rival: Rival<'a>, walks: &Walks, round: RoundLimits) -> Round<'a> {
        let Rival { mut steps, orders, mut has_all } = rival;
        // Outcomes have other numbers where it is recorded what they touch.
        lock(self.cx.locals).records_touched = !steps.blocks.is_empty();
        steps.most_runs = (round.budget as u64).saturating_mul(RUNS_PER_NODE);
        let is_only = round.is_alone && orders.len() == 1 && has_all;
        'again: loop {
            let mut left = Vec::new();
            for order in &orders {
                let mut limits = self.limits(&steps);
                limits.bytes = limits.bytes.saturating_sub(round.n_bytes);
                if !is_only {
                    limits.nodes = round.budget;
                    limits.operations = round.budget as u64 * OPERATIONS_PER_NODE;
                }
                let mut reach = self.reach(steps, order, limits);
                match self.saturate(&mut reach) {
                    Ok(reached) => {
                        reach.diagrams.set_limits(self.limits(&reach.steps));
                        reach.steps.blocks.settle();
                        return Round::Found(Box::new(reach), reached);
                    }
                    Err(Halt::Stopped) if !reach.steps.has_violation && reach.steps.must_restart() => {
                        self.note(&reach);
                        steps = reach.steps;
                        steps.split_slots();
                        continue 'again;
                    }
                    Err(Halt::Stopped) => {
                        self.note(&reach);
                        return Round::Stopped(Box::new(reach.steps), order.clone());
                    }
                    Err(Halt::Nodes) => left.push(order.clone()),
                    Err(Halt::Memory) => {}
                }
                self.figures.n_orders_left += 1;
                self.note(&reach);
                steps = reach.steps;
            }
            if !std::mem::replace(&mut has_all, true) {
                left = self.orders(walks, true);
            }
            return Round::Left(Box::new(Rival { steps, orders: left, has_all }));
        }
    }

    /// What diagrams may use beside what the steps have.
    fn limits(&self, steps: &MemoSteps<'_>) -> Limits {
        let limit = self.cx.options.limits.memory_bytes.map_or(usize::MAX, |bytes| bytes as usize);
        let others = steps.n_bytes() + lock(self.cx.locals).n_bytes();
        Limits { bytes: limit.saturating_sub(others), ..Limits::default() }
    }

    fn reach(&self, steps: MemoSteps<'a>, order: &[u32], limits: Limits) -> Search<'a> {
        let (cx, stopped) = (self.cx, self.stopped);
        let stop = move |usage: &Usage| {
            let locals = cx.locals.try_lock().map_or(0, |locals| locals.n_bytes());
            let bytes = (usage.n_bytes + locals) as u64;
            cx.observer.progress(&Progress {
                n_steps: usage.n_operations,
                n_nodes: Some(usage.n_nodes as u64),
                bytes: Some(bytes),
                ..Progress::default()
            });
            let reason = cx.stop_reason().or_else(|| cx.is_over(bytes));
            let must_stop = reason.is_some();
            if must_stop {
                stopped.replace(reason);
            }
            must_stop
        };
        // A party that was broken by an earlier step does not react.
        let goes_on = !steps.stops_at_violation;
        let mut events = Events::new(&[]);
        for &slot in order {
            events.place(slot, steps.blocks.n_parts(slot));
        }
        let mut reach = Reach::new(Diagrams::new(limits, Box::new(stop)), events, steps);
        let has_crashes = self.exe.network.has_crashes();
        reach.parties_may_fail = self.cx.options.bounds != SearchBounds::default()
            || has_crashes
            || reach.steps.left.is_some()
            || goes_on
            || !reach.steps.blocks.is_empty();
        reach
    }

    fn saturate(&mut self, reach: &mut Search<'a>) -> Result<Node, Halt> {
        let start = path::start_set(reach, &self.starts)?;
        let Some(depth) = self.cx.options.bounds.depth else { return reach.saturate(start) };
        let (mut front, mut reached) = (start, start);
        for _ in 1..depth {
            if front.is_empty() {
                break;
            }
            reach.kept = vec![front, reached];
            (front, reached) = reach.layer(front, reached)?;
        }
        reach.kept.clear();
        let Search { diagrams, events, steps, .. } = reach;
        let enabled = diagrams.some(front, |level, value| {
            events.part_of(level) == 0 && steps.can_step(events.slot_of(level), value)
        })?;
        if !enabled.is_empty() {
            steps.cuts.add(Cut::Depth);
        }
        Ok(reached)
    }

    /// The properties of a program of which all configurations are known.
    fn decide(&mut self, reach: &mut Search<'a>, reached: Node) -> Result<End, InternalError> {
        reach.kept = vec![reached];
        if !reach.steps.stops_at_violation {
            match path::hits(reach, reached, Goal::Broken) {
                Ok(broken) if broken.is_empty() => {}
                Ok(_) => return self.show(reach, Goal::Broken),
                Err(halt) => return Ok(End::Stopped(self.reason_of(halt))),
            }
        }
        let found = path::bad_ends(reach, reached);
        let (terminal, bad) = match found {
            Ok(found) => found,
            Err(halt) => return Ok(End::Stopped(self.reason_of(halt))),
        };
        let n_configurations = reach.diagrams.count(reached) + 1;
        let n_terminal = reach.diagrams.count(terminal);
        self.explored.tally.n_configurations = n_configurations.as_u64().unwrap_or(u64::MAX);
        self.explored.tally.n_ends = n_terminal.as_u64().unwrap_or(u64::MAX);
        let steps = &mut reach.steps;
        let levels = 1..=reach.events.n_levels();
        let is_machine: Vec<bool> = levels
            .map(|level| {
                let owner = steps.owner(reach.events.slot_of(level));
                reach.events.part_of(level) == 0 && owner.is_some_and(|owner| owner.is_machine())
            })
            .collect();
        self.explored.tally.n_machines = reach.diagrams.most(reached, |level, value| {
            u32::from(is_machine[level as usize - 1] && value != steps::ABSENT)
        });
        if self.options.checks_filters {
            self.figures.seen = invariants::seen(reach, reached);
        }
        self.figures.configurations = Some(n_configurations);
        self.figures.terminal = Some(n_terminal);
        if let Some(notes) = self.cx.notes {
            for values in reach.diagrams.vectors(reached) {
                let is_end = reach.diagrams.contains(terminal, &values);
                let vector = path::state_vector(reach, &values);
                notes.see(&vector, self.exe.monitors.len(), is_end);
            }
            notes.see_locals(reach.steps.outboxes.passed());
        }
        self.figures.set_nodes = reach.diagrams.size(reached).0 as u64;
        if !bad.is_empty() {
            reach.kept.push(bad);
            return self.show(reach, Goal::Set(bad));
        }
        for (number, invariant) in self.exe.invariants.iter().enumerate() {
            let breaking = match stated::breaking(reach, reached, invariant) {
                Ok(breaking) => breaking,
                Err(stated::Failure::Halt(halt)) => return Ok(End::Stopped(self.reason_of(halt))),
                Err(stated::Failure::Unknown(reason)) => return Ok(End::Stopped(reason)),
            };
            if !breaking.is_empty() {
                reach.kept.push(breaking);
                return self.show(reach, Goal::Stated(breaking, number));
            }
        }
        self.figures.n_stated = self.exe.invariants.len() as u64;
        let is_whole = self.cx.options.bounds == SearchBounds::default()
            && self.cx.options.max_choices.is_none()
            && self.explored.unknown.is_none()
            && reach.steps.unknown().is_none();
        if self.options.finds_invariants && is_whole {
            match invariants::find(self.exe, reach, reached) {
                Ok(found) => self.figures.invariants = found,
                Err(halt) => return Ok(End::Stopped(self.reason_of(halt))),
            }
        }
        if self.checks_liveness && self.explored.unknown.is_none() && reach.steps.unknown().is_none() {
            let exe = self.exe;
            return match liveness::check(self.cx, exe, reach, reached, &self.starts, self.shows) {
                Ok(None) => Ok(End::Exhausted),
                Ok(Some(found)) => Ok(End::Violated(Box::new(found))),
                Err(liveness::Failure::Halt(halt)) => Ok(End::Stopped(self.reason_of(halt))),
                Err(liveness::Failure::Internal(error)) => Err(error),
            };
        }
        Ok(End::Exhausted)
    }

    /// A step breaks a property: finds a run to it. The steps come back if there is none. A run that was walked is shown where a short
    /// one takes long to find.
    fn violated(
        &mut self,
        mut steps: MemoSteps<'a>,
        order: &[u32],
        walked: Option<&WalkedRun>,
    ) -> Result<Result<End, Box<MemoSteps<'a>>>, InternalError> {
        steps.stops_at_violation = false;
        let (reach, end) = loop {
            let mut limits = self.limits(&steps);
            if walked.is_some() {
                limits.operations = WALKED_OPERATIONS;
            }
            let mut reach = self.reach(steps, order, limits);
            let mut end = self.show(&mut reach, Goal::Broken);
            if let (Ok(End::Seen(_)), Some(run)) = (&end, walked) {
                end = self.show_walk(run);
            }
            if !matches!(end, Ok(End::Seen(_))) || !reach.steps.must_restart() {
                break (reach, end);
            }
            steps = reach.steps;
            steps.split_slots();
        };
        self.note(&reach);
        self.note_steps(&reach.steps);
        match end? {
            End::Unreachable => Ok(Err(Box::new(reach.steps))),
            end => Ok(Ok(end)),
        }
    }

    /// A run that a walk has found, unless the user has had enough.
    fn show_walk(&mut self, run: &WalkedRun) -> Result<End, InternalError> {
        self.shows.store(true, Ordering::Relaxed);
        let Some((answers, first)) = self.starts.get(run.start) else { return Err(no_run()) };
        self.explored.depth = run.moves.len() as u64 + 1;
        let steps = match counterexample::steps_of(self.cx, answers, first, &run.moves, true) {
            Ok(steps) => steps,
            Err(error) => return self.interrupted().map(End::Seen).ok_or(error),
        };
        let found = counterexample::counterexample(self.exe, self.cx.options.limits, &steps);
        found.map(|found| End::Violated(Box::new(found)))
    }

    fn interrupted(&self) -> Option<StopReason> {
        self.cx.stop_reason().filter(|reason| *reason == StopReason::Interrupted)
    }

    /// A run to a goal that is known to be reachable.
    fn show(&mut self, reach: &mut Search<'a>, goal: Goal) -> Result<End, InternalError> {
        let start = match path::start_set(reach, &self.starts) {
            Ok(start) => start,
            Err(halt) => return Ok(End::Seen(self.reason_of(halt))),
        };
        let found = match path::find(reach, start, goal, self.options.shortest) {
            Ok(found) => found,
            Err(halt) => return Ok(End::Seen(self.reason_of(halt))),
        };
        let goal = found.as_ref().map_or(goal, |found| found.goal);
        // Of the parties of one step, one may break a property while another is cut off by a bound.
        if found.is_none() && self.cx.options.bounds != SearchBounds::default() {
            return Ok(End::Unreachable);
        }
        self.shows.store(true, Ordering::Relaxed);
        let run = found.and_then(|found| path::moves(reach, &found.vectors, goal, &self.starts));
        let Some(run) = run else {
            // The step is one that could not be computed.
            return match reach.steps.unknown() {
                Some(reason) => Ok(End::Stopped(reason)),
                None => Err(no_run()),
            };
        };
        self.explored.depth = run.moves.len() as u64 + 1;
        let breaks = matches!(goal, Goal::Broken);
        let steps = match counterexample::steps_of(self.cx, &run.answers, &run.first, &run.moves, breaks) {
            Ok(steps) => steps,
            Err(error) => return self.interrupted().map(End::Seen).ok_or(error),
        };
        let limits = self.cx.options.limits;
        let found = match goal {
            Goal::Stated(_, number) => counterexample::breaking(self.exe, limits, &steps, number),
            Goal::Broken | Goal::Set(_) => counterexample::counterexample(self.exe, limits, &steps),
        };
        found.map(|found| End::Violated(Box::new(found)))
    }

    pub fn stop_reason(&self) -> StopReason {
        self.stopped.borrow().clone().or_else(|| self.cx.stop_reason()).unwrap_or(StopReason::Interrupted)
    }

    pub fn reason_of(&self, halt: Halt) -> StopReason {
        match halt {
            Halt::Stopped => self.stop_reason(),
            Halt::Memory | Halt::Nodes => {
                StopReason::Memory { bytes: self.cx.options.limits.memory_bytes.unwrap_or(0) }
            }
        }
    }

    /// Figures of diagrams, which add up over several orders.
    fn note(&mut self, reach: &Search<'a>) {
        let usage = reach.diagrams.usage();
        let figures = &mut self.figures;
        figures.peak_nodes = figures.peak_nodes.max(usage.peak_nodes as u64);
        figures.n_collections += usage.n_collections;
        figures.n_operations += usage.n_operations;
        figures.n_slots = u64::from(reach.events.n_levels());
        figures.n_events = reach.events.n_events() as u64;
        let locals = lock(self.cx.locals);
        let name = |level: u32| {
            let slot = reach.events.slot_of(level);
            let name = locals
                .owners
                .get(slot as usize)
                .map_or_else(String::new, |&owner| owner_name(&locals, owner));
            match reach.events.is_block(level) {
                false => name,
                true => {
                    let part = part_name(&locals, locals.owners[slot as usize], reach.events.part_of(level));
                    format!("{name}.{part}")
                }
            }
        };
        figures.order = (1..=reach.events.n_levels()).map(name).collect();
        let is_first_part = |&level: &u32| reach.events.is_block(level) && reach.events.part_of(level) == 0;
        figures.n_split = (1..=reach.events.n_levels()).filter(is_first_part).count() as u64;
        self.explored.peak_bytes = self.explored.peak_bytes.max((usage.peak_bytes + locals.n_bytes()) as u64);
    }

    fn note_steps(&mut self, steps: &MemoSteps<'_>) {
        self.figures.n_handler_runs = steps.n_handler_runs();
        self.figures.n_local_states = steps.n_local_states();
        self.figures.most_local_states = steps.most_local_states();
        self.explored.n_lookups = steps.expander.memo.n_lookups;
        self.explored.n_misses = steps.expander.memo.n_misses;
        self.explored.tally.cuts.join(steps.cuts);
        if self.explored.unknown.is_none() {
            self.explored.unknown = steps.unknown();
        }
    }
}

/// A violation is known to be reachable, and is not.
fn no_run() -> InternalError {
    let (expected, found) = ("a run to a violation".to_owned(), "none".to_owned());
    InternalError::OtherOutcome { expected, found }
}

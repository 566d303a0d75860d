//! The certificate: a plan is executed by the concurrent interpreter, and only a run that fails there
//! is a violation.
//!
//! The plan fixes scheduling, branches, and the values that the program takes from nowhere. Values that it does not
//! know, because the model had no say in them or the solver no way to write them, are tried: first others of the
//! model, then small ones. What results is a schedule without delays, which is replayed once more under full
//! concurrency.

use allways_base::Symbol;
use allways_boogie::interp::machine::{Machine, Standing, Stop};
use allways_boogie::interp::oracle::{Candidates, concurrent_schedule};
use allways_boogie::interp::{
    Asked, Assertions, At, Choice, Code, Conf, Domains, Ending, Limit, Move, Oracle, Replay, Run, RunOptions,
    Scheduler, Value, run,
};
use allways_boogie::tree::{StmtId, StmtKind};
use rustc_hash::FxHashMap;

use crate::decode::{AtPoint, Item, Plan};

/// How many combinations of unknown values are tried.
pub(crate) const MAX_RUNS: usize = 2_000;

/// How many values are tried for one question.
const MAX_OPTIONS: usize = 8;

/// Instructions of one run.
pub(crate) const MAX_STEPS: u64 = 200_000;

/// The values of a function without definition, by its place in [`Code::functions`].
pub type Apply<'a> = dyn Fn(usize, &[Value]) -> Option<Value> + 'a;

/// What is known about values, besides the plan.
pub struct Values<'a> {
    /// The globals at the start and the constants, by slot.
    pub initial: Vec<Option<Value>>,
    pub constants: Vec<Option<Value>>,
    pub apply: &'a Apply<'a>,
    /// Values of the model, the likely ones first.
    pub pool: Vec<Value>,
    /// Asked between two attempts; `true` gives up.
    pub should_stop: &'a dyn Fn() -> bool,
}

/// A failing run of the concurrent program, with its schedule.
pub struct Repeated {
    pub run: Run,
    /// Assumptions over unbounded data that the interpreter could not evaluate: there the solver is trusted.
    pub n_trusted: usize,
    /// Axioms of that kind.
    pub n_axioms: usize,
}

/// Executes a plan under the scheduler it was made for. An error says what kept the interpreter from it, if it is not just
/// that no values were found with which the run fails.
pub fn replay(
    code: &Code,
    plan: &Plan,
    values: &Values<'_>,
    scheduler: Scheduler,
    assertions: Assertions,
) -> Result<Repeated, Option<Limit>> {
    let mut limit = None;
    let mut guide = Guide::new(code, plan, values);
    for _ in 0..MAX_RUNS {
        guide.restart();
        match attempt(code, plan, scheduler, assertions, &mut guide) {
            Ok(true) => {
                let certified = certify(code, &guide.schedule, scheduler, assertions);
                if matches!(certified.run.ending, Ending::Failed(_)) {
                    return Ok(certified);
                }
            }
            Ok(false) => {}
            Err(reason) => limit = Some(reason),
        }
        if !guide.advance() || (values.should_stop)() {
            break;
        }
    }
    Err(limit)
}

/// The run without its delays, under full concurrency. A task that stopped for good has not completed there, so in
/// continue mode, where a run counts at its end only, such a run is made under its own scheduler.
fn certify(code: &Code, schedule: &[Choice], scheduler: Scheduler, assertions: Assertions) -> Repeated {
    let abandons = schedule.iter().any(|choice| matches!(choice, Choice::Move(Move::Abandon(_))));
    let options =
        RunOptions { assertions, posts_are_points: scheduler.stops_after_post(), ..RunOptions::default() };
    let (options, schedule) = if abandons && assertions == Assertions::Continue {
        (RunOptions { scheduler, ..options }, schedule.to_vec())
    } else {
        (options, concurrent_schedule(schedule))
    };
    let mut answers = Replay::trusting(&schedule);
    let run = run(code, &options, &mut answers);
    Repeated { run, n_trusted: answers.n_trusted, n_axioms: answers.n_axioms }
}

/// Whether a run with these values fails.
fn attempt(
    code: &Code,
    plan: &Plan,
    scheduler: Scheduler,
    assertions: Assertions,
    guide: &mut Guide<'_>,
) -> Result<bool, Limit> {
    let domains = Domains::default();
    let mut complete = true;
    let stop_after_post = scheduler.stops_after_post();
    let mut n_steps_left = MAX_STEPS;
    macro_rules! machine {
        () => {
            Machine {
                code,
                domains: &domains,
                assertions,
                oracle: &mut *guide,
                complete: &mut complete,
                events: None,
                n_steps_left,
                stop_after_post,
            }
        };
    }
    guide.ways = plan.tasks.first().map(|first| first.ways.clone()).unwrap_or_default();
    guide.taken = 0;
    let Some(mut conf) = machine!().start()? else { return Ok(false) };
    let mut sched = scheduler.start();
    // Which planned task each task is, how far it is, and whether it has been delayed where it stands.
    let mut cursors = vec![Cursor { n_ways: guide.taken, ..Cursor::default() }];
    loop {
        if scheduler.is_finalized(&conf, &sched) {
            return Ok(conf.failure.is_some());
        }
        let moves = scheduler.moves(code, &conf, &sched);
        let Some(&first) = moves.first() else { return Ok(false) };
        let task = match first {
            Move::Run(task) | Move::Delay(task, _) | Move::Abandon(task) => task,
        };
        let made = cursors[task].choose(code, plan, &conf, scheduler, task, &moves).unwrap_or(first);
        guide.schedule.push(Choice::Move(made));
        match made {
            Move::Run(task) => {
                guide.ways = plan.tasks.get(cursors[task].plan).map(|p| p.ways.clone()).unwrap_or_default();
                guide.taken = cursors[task].n_ways;
                let n_tasks = conf.tasks.len();
                let mut machine = machine!();
                let stop = machine.run_task(&mut conf, task)?;
                n_steps_left = machine.n_steps_left;
                cursors[task].n_ways = guide.taken;
                cursors[task].stands = false;
                for child in n_tasks..conf.tasks.len() {
                    let position = conf.tasks[task].children.iter().position(|&c| c == child).unwrap_or(0);
                    let own =
                        plan.tasks.get(cursors[task].plan).and_then(|p| p.children.get(position)).copied();
                    let plan = own.unwrap_or(usize::MAX);
                    cursors.push(Cursor { plan, ..Cursor::default() });
                    guide.tasks.push(Reading { plan, ..Reading::default() });
                }
                match stop {
                    Stop::Parked | Stop::Completed => {}
                    Stop::Blocked => return Ok(false),
                    Stop::Failed => return Ok(conf.failure.is_some()),
                }
            }
            Move::Delay(task, n) => cursors[task].n_left = cursors[task].n_left.saturating_sub(n),
            Move::Abandon(_) => {}
        }
        scheduler.after(code, &conf, &mut sched, made);
    }
}

#[derive(Clone, Default)]
struct Cursor {
    plan: usize,
    n_points: usize,
    n_ways: usize,
    /// The point where the task stands has been looked up.
    stands: bool,
    /// Rounds that it still has to be delayed there.
    n_left: u32,
    /// It stops for good there.
    stops: bool,
}

impl Cursor {
    /// Delays as planned; otherwise runs.
    fn choose(
        &mut self,
        code: &Code,
        plan: &Plan,
        conf: &Conf,
        scheduler: Scheduler,
        task: usize,
        moves: &[Move],
    ) -> Option<Move> {
        let run = moves.iter().copied().find(|m| matches!(m, Move::Run(_)));
        match conf.standing(code, task) {
            Standing::AtYield { .. } => {}
            // Waiting is free there, and no point of the plan.
            Standing::AtWait { .. } | Standing::AtWaitAll if matches!(scheduler, Scheduler::Dfw { .. }) => {
                return run;
            }
            Standing::AtWait { .. } | Standing::AtWaitAll => {}
            Standing::Running | Standing::Completed => return run,
        }
        if !self.stands {
            self.stands = true;
            (self.n_left, self.stops) = (0, false);
            let stmt = conf.place(code, task).and_then(|origin| origin.stmt);
            let points = plan.tasks.get(self.plan).map_or(&[][..], |p| &p.points[..]);
            let ahead = points.get(self.n_points..).unwrap_or_default();
            // Points inside atomic sections are none for the interpreter. Those at the entry of procedures belong to
            // no statement, and are new ones in the translated program.
            let n_written = code.checked.program.stmts.len();
            let is_here = |point: StmtId| match stmt {
                Some(stmt) => point == stmt,
                None => point.as_u32() as usize >= n_written,
            };
            if let Some(offset) = ahead.iter().position(|(point, _)| is_here(*point)) {
                match ahead[offset].1 {
                    AtPoint::Delay(n) => self.n_left = n,
                    AtPoint::Stop => self.stops = true,
                }
                self.n_points += offset + 1;
            }
        }
        if self.stops {
            return moves.iter().copied().find(|m| matches!(m, Move::Abandon(_))).or(run);
        }
        // All at once where that is offered, else round by round.
        let delay = |n: u32| moves.iter().copied().find(|m| matches!(m, Move::Delay(_, by) if *by == n));
        if self.n_left == 0 { run } else { delay(self.n_left).or_else(|| delay(1)).or(run) }
    }
}

/// How far the items of a task's plan have been used.
#[derive(Clone, Default)]
pub(crate) struct Reading {
    pub plan: usize,
    /// The next item.
    next: usize,
    /// The statement that the task is at.
    stmt: Option<usize>,
}

impl Reading {
    /// From the start of a task's plan.
    pub fn of(plan: usize) -> Self {
        Reading { plan, ..Reading::default() }
    }
}

/// Answers by the plan, and goes through what is not known like through the digits of a counter.
pub(crate) struct Guide<'a> {
    code: &'a Code,
    plan: &'a Plan,
    values: &'a Values<'a>,
    /// The choice and the number of choices of each question so far.
    digits: Vec<(usize, usize)>,
    at: usize,
    /// The choices of the running task's free branches, and how many of them have been used.
    pub ways: Vec<u32>,
    pub taken: usize,
    pub schedule: Vec<Choice>,
    /// By task of the run.
    pub tasks: Vec<Reading>,
    /// What variables will turn out to be, by task, depth and name.
    locals: FxHashMap<(usize, usize, Symbol), Value>,
}

impl<'a> Guide<'a> {
    pub fn new(code: &'a Code, plan: &'a Plan, values: &'a Values<'a>) -> Self {
        Guide {
            code,
            plan,
            values,
            digits: Vec::new(),
            at: 0,
            ways: Vec::new(),
            taken: 0,
            schedule: Vec::new(),
            tasks: Vec::new(),
            locals: FxHashMap::default(),
        }
    }

    /// Back to the start of the run, with the same choices for what is not known.
    pub fn restart(&mut self) {
        self.at = 0;
        self.schedule.clear();
        self.tasks = vec![Reading::default()];
        self.locals.clear();
    }

    /// On to other choices for what is not known; false when there are no more.
    pub fn advance(&mut self) -> bool {
        while let Some((digit, n)) = self.digits.pop() {
            if digit + 1 < n {
                self.digits.push((digit + 1, n));
                return true;
            }
        }
        false
    }

    fn digit(&mut self, n: usize) -> usize {
        if self.at == self.digits.len() {
            self.digits.push((0, n));
        }
        self.at += 1;
        self.digits[self.at - 1].0
    }

    /// Moves to the next item of a task that is wanted.
    fn find(&mut self, task: usize, wanted: impl Fn(&Item) -> bool) -> Option<usize> {
        let reading = self.tasks.get_mut(task)?;
        let items = &self.plan.tasks.get(reading.plan)?.items;
        let found = reading.next + items.get(reading.next..)?.iter().position(wanted)?;
        reading.next = found + 1;
        Some(found)
    }

    fn item(&self, task: usize, idx: usize) -> Option<&Item> {
        self.plan.tasks.get(self.tasks.get(task)?.plan)?.items.get(idx)
    }

    /// What the statement that a task is at gives to a variable. A shared variable with a copy per round gets it by
    /// way of a helper.
    fn chosen(&self, task: usize, name: Symbol) -> Option<Value> {
        let Item::Stmt { values, .. } = self.item(task, self.tasks.get(task)?.stmt?)? else { return None };
        let name = self.code.checked.program.text(name);
        let fits = |found: &str| {
            let rest = found.strip_prefix(name).map(|rest| rest.trim_end_matches('\''));
            matches!(rest, Some("" | ".any" | ".got"))
        };
        values.iter().find(|(found, _)| fits(found)).map(|(_, value)| value.clone())
    }

    fn enter(&mut self, task: usize, depth: usize, procedure: usize) {
        self.locals.retain(|&(of, at, _), _| of != task || at < depth);
        let code = self.code;
        let lowered = &code.procedures[procedure];
        let name = code.checked.program.text(lowered.name);
        let is_it = |item: &Item| matches!(item, Item::Enter { procedure, .. } if procedure == name);
        if let Some(idx) = self.find(task, is_it)
            && let Some(Item::Enter { values, .. }) = self.item(task, idx).cloned()
        {
            for (name, value) in values {
                if let Some(symbol) = code.checked.program.names.get(&name) {
                    self.locals.insert((task, depth, symbol), value);
                }
            }
        }
        if !lowered.bodies.is_empty() {
            return;
        }
        // What a procedure without body returns shows at its call.
        let stmt = self.tasks.get(task).and_then(|reading| reading.stmt);
        let Some(Item::Stmt { stmt, .. }) = stmt.and_then(|idx| self.item(task, idx)) else { return };
        let StmtKind::Call(call) = &code.checked.program.stmts[*stmt].kind else { return };
        for (result, out) in lowered.names[lowered.n_params..].iter().zip(&call.outs) {
            if let Some(value) = out.and_then(|out| self.chosen(task, out.symbol)) {
                self.locals.insert((task, depth, *result), value);
            }
        }
    }

    fn known(&self, asked: Asked<'_>) -> Option<Value> {
        match asked {
            Asked::Global(slot) => self.values.initial.get(slot)?.clone(),
            Asked::Const(slot) => self.values.constants.get(slot)?.clone(),
            Asked::Chosen { task, name } => self.chosen(task, name),
            Asked::Local { task, depth, name } => self.locals.get(&(task, depth, name)).cloned(),
            Asked::Function { function, args } => (self.values.apply)(function, args),
        }
    }
}

impl Oracle for Guide<'_> {
    fn at(&mut self, event: At) {
        match event {
            At::Stmt { task, stmt } => {
                let is_it = |item: &Item| matches!(item, Item::Stmt { stmt: found, .. } if *found == stmt);
                let found = self.find(task, is_it);
                if let Some(reading) = self.tasks.get_mut(task) {
                    reading.stmt = found;
                }
            }
            At::Enter { task, depth, procedure } => self.enter(task, depth, procedure),
            At::Forget { task, depth, name } => {
                match self.chosen(task, name) {
                    Some(value) => self.locals.insert((task, depth, name), value),
                    None => self.locals.remove(&(task, depth, name)),
                };
            }
            At::Passed { task, depth, from, to } => {
                let value = self.locals.get(&(task, depth, from)).cloned();
                match value.or_else(|| self.chosen(task, to)) {
                    Some(value) => self.locals.insert((task, depth - 1, to), value),
                    None => self.locals.remove(&(task, depth - 1, to)),
                };
            }
        }
    }

    fn branch(&mut self, n: usize) -> Result<usize, Limit> {
        let planned = self.ways.get(self.taken).map(|&way| way as usize);
        self.taken += 1;
        let idx = planned.filter(|&way| way < n).unwrap_or(0);
        self.schedule.push(Choice::Branch(idx));
        Ok(idx)
    }

    fn value(&mut self, asked: Asked<'_>, candidates: Candidates<'_>) -> Result<(Value, bool), Limit> {
        let mut options: Vec<Value> = self.known(asked).into_iter().collect();
        if options.is_empty() {
            let small = candidates().map(|(values, _)| values).unwrap_or_default();
            let alike = |value: &&Value| match (value, small.first()) {
                (Value::Bv { width, .. }, Some(Value::Bv { width: wanted, .. })) => width == wanted,
                (Value::Element(ty, _), Some(Value::Element(wanted, _))) => ty == wanted,
                (value, Some(other)) => std::mem::discriminant(*value) == std::mem::discriminant(other),
                (_, None) => true,
            };
            options.extend(self.values.pool.iter().filter(alike).cloned());
            for value in small {
                if !options.contains(&value) {
                    options.push(value);
                }
            }
            options.truncate(MAX_OPTIONS);
        }
        let idx = self.digit(options.len().max(1));
        let value = options.into_iter().nth(idx).ok_or(Limit::Candidates)?;
        self.schedule.push(Choice::Value(value.clone()));
        Ok((value, false))
    }

    fn next_move(&mut self, _moves: &[Move]) -> Result<usize, Limit> {
        Ok(0)
    }

    fn assumption(&mut self, _limit: Limit) -> Result<bool, Limit> {
        Ok(true)
    }
}

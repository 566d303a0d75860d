//! From a run of the translated program back to a lasso of the original, and its certificate.
//!
//! The certificate is a schedule of the concurrent interpreter with two cuts: stem, loop, loop. It is valid if the run
//! is idle at both cuts and at its end, with equal globals (marked ones shifted by the same amount per turn) and with
//! every task pending at one of these places also pending at the next. A loop without shift then repeats for ever; for one
//! with a shift, [`super::shift`] has to agree.

use std::collections::BTreeSet;

use allways_boogie::check::{Checked, Ty, TyKind};
use allways_boogie::interp::machine::pending::Pending;
use allways_boogie::interp::machine::{Machine, Stop};
use allways_boogie::interp::value::n_indices;
use allways_boogie::interp::{
    Assertions, Choice, Code, Conf, Domains, Ending, Limit, Move, Oracle, Replay, Run, RunOptions, Value, run,
};
use allways_boogie::tree::{StmtId, StmtKind};

use super::{Fate, Legend, Phase, shift};
use crate::decode::{Item, Named, Plan, Running, Step, TaskPlan, choose};
use crate::replay::{Guide, MAX_RUNS, MAX_STEPS, Reading, Values};
use crate::{Role, Sequentialized};

/// What the tasks of a lasso do. The first is the entry point's.
#[derive(Clone, Default, Debug)]
pub struct LassoPlan {
    /// Branches and values, by task.
    plan: Plan,
    tasks: Vec<Planned>,
}

#[derive(Clone, Debug)]
struct Planned {
    phase: Phase,
    round: u32,
    parent: Option<usize>,
    posts: Vec<Posted>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Posted {
    Dispatched(usize),
    Kept,
    Dropped,
}

impl LassoPlan {
    fn add(&mut self, phase: Phase, round: u32, parent: Option<usize>) -> usize {
        self.plan.tasks.push(TaskPlan::default());
        self.tasks.push(Planned { phase, round, parent, posts: Vec::new() });
        self.tasks.len() - 1
    }

    /// The tasks of a phase in the order of the scheduler: round by round, in preorder of the tree of tasks. The first
    /// task runs before all rounds.
    fn order(&self, phase: Phase) -> Vec<usize> {
        let n_rounds = self.tasks.iter().map(|task| task.round + 1).max().unwrap_or(1);
        let mut preorder = Vec::new();
        let mut work = vec![0];
        while let Some(task) = work.pop() {
            preorder.push(task);
            work.extend(self.tasks[task].posts.iter().rev().filter_map(|post| match post {
                Posted::Dispatched(child) => Some(*child),
                Posted::Kept | Posted::Dropped => None,
            }));
        }
        let of_phase = |task: &usize| self.tasks[*task].phase == phase;
        let first = (phase == Phase::Stem).then_some(0);
        let rest = (0..n_rounds).flat_map(|round| {
            preorder.iter().copied().skip(1).filter(move |&task| self.tasks[task].round == round)
        });
        first.into_iter().chain(rest.filter(of_phase)).collect()
    }
}

/// Reads the steps of a run of the translated program.
pub fn decode(done: &Sequentialized, legend: &Legend, steps: impl IntoIterator<Item = Step>) -> LassoPlan {
    let mut plan = LassoPlan::default();
    plan.add(Phase::Stem, 0, None);
    // `None` stands for tasks that only compare.
    let mut running: Running<Option<usize>> = Running::new(Some(0));
    let mut posted: Option<Fate> = None;
    let mut round: Option<u32> = None;
    for step in steps {
        let Some(task) = running.task() else { break };
        match step {
            Step::Enter { procedure, values } => {
                let mut posts = None;
                if let Some(fate) = posted.take() {
                    posts = Some(match (fate, task) {
                        (Fate::Dispatched(phase), Some(parent)) => {
                            let round = round.take().unwrap_or(plan.tasks[parent].round);
                            let child = plan.add(phase, round, Some(parent));
                            plan.tasks[parent].posts.push(Posted::Dispatched(child));
                            Some(child)
                        }
                        _ => None,
                    });
                }
                running.enter(posts);
                if let (Some(procedure), Some(task)) = (procedure, posts.unwrap_or(task)) {
                    let procedure = legend.loop_procedures.get(&procedure).cloned().unwrap_or(procedure);
                    let values = original_names(legend, values);
                    plan.plan.tasks[task].items.push(Item::Enter { procedure, values });
                }
            }
            Step::Leave => {
                running.leave();
            }
            // Posted procedures have one body, so this is a call of the running task.
            Step::Body(number) => {
                if let Some(task) = task {
                    plan.plan.tasks[task].ways.push(number);
                }
            }
            Step::Stmt { stmt, way, values } => {
                let (Some(origin), Some(task)) = (done.origins.get(&stmt), task) else { continue };
                let fate = legend.fates.get(&origin.stmt).copied();
                match (origin.role, fate) {
                    (Role::Post, Some(fate)) => {
                        if fate == Fate::Kept {
                            plan.tasks[task].posts.push(Posted::Kept);
                        }
                        posted = Some(fate);
                        continue;
                    }
                    (Role::Round, _) => {
                        round = match values.first() {
                            Some((_, Value::Int(round))) => u32::try_from(*round).ok(),
                            _ => None,
                        };
                        continue;
                    }
                    (Role::Plain, Some(Fate::Dropped)) => {
                        plan.tasks[task].posts.push(Posted::Dropped);
                        continue;
                    }
                    _ if legend.choices.contains(&origin.stmt) => continue,
                    _ => {}
                }
                let original = legend.stands_for.get(&origin.stmt).copied().unwrap_or(origin.stmt);
                let is_call = matches!(done.program.stmts[stmt].kind, StmtKind::Call(_));
                let values = original_names(legend, values);
                let task = &mut plan.plan.tasks[task];
                match origin.role {
                    Role::Choice => choose(&mut task.items, original, values),
                    Role::Plain if is_call => choose(&mut task.items, original, values),
                    Role::Plain => task.ways.extend(way),
                    Role::Post | Role::Round | Role::Yield | Role::Stop | Role::Wait => {}
                }
            }
        }
    }
    plan
}

/// Values under the names that variables have in the original.
fn original_names(legend: &Legend, values: Named) -> Named {
    values
        .into_iter()
        .map(|(name, value)| (legend.loop_globals.get(&name).cloned().unwrap_or(name), value))
        .collect()
}

/// A lasso that the interpreter has made: stem, loop, loop.
pub struct Certificate {
    /// The whole run; each segment is one task.
    pub run: Run,
    /// How many segments are the stem's, and how many are one turn of the loop.
    pub n_stem: usize,
    pub n_loop: usize,
    /// The configurations before the first task and after each: all idle.
    pub confs: Vec<Conf>,
    /// For each task of the run that the second turn dispatches from the start of the turn, the task of the first turn
    /// that it replaces.
    pub replaces: Vec<(usize, usize)>,
    /// How marked values grow per turn.
    pub shift: i128,
    /// Assumptions over unbounded data that the interpreter could not evaluate, and axioms of that kind.
    pub n_trusted: usize,
    pub n_axioms: usize,
}

impl Certificate {
    /// The statements of one turn.
    pub fn executed(&self) -> BTreeSet<StmtId> {
        let turn = self.run.segments.iter().skip(self.n_stem).take(self.n_loop);
        turn.flat_map(|segment| &segment.events).filter_map(|event| event.stmt).collect()
    }
}

/// Makes the run of a plan and cuts it. An error says what kept the interpreter from it, if it is not just that the
/// run does not repeat.
pub fn replay(
    code: &Code,
    plan: &LassoPlan,
    values: &Values<'_>,
    shift: i128,
) -> Result<Certificate, Option<Limit>> {
    let mut guide = Guide::new(code, &plan.plan, values);
    let mut limit = None;
    for _ in 0..MAX_RUNS {
        guide.restart();
        match attempt(code, plan, shift, &mut guide) {
            Ok(Some(draft)) => {
                if let Some(certificate) = certify(code, &guide.schedule, &draft, shift) {
                    return Ok(certificate);
                }
            }
            Ok(None) => {}
            Err(reason) => limit = Some(reason),
        }
        if !guide.advance() || (values.should_stop)() {
            break;
        }
    }
    Err(limit)
}

/// A run that has been made once: where the stem and each turn end.
struct Draft {
    n_stem: usize,
    n_loop: usize,
    replaces: Vec<(usize, usize)>,
}

fn attempt(
    code: &Code,
    plan: &LassoPlan,
    shift: i128,
    guide: &mut Guide<'_>,
) -> Result<Option<Draft>, Limit> {
    let domains = Domains::default();
    let mut complete = true;
    let start = Machine {
        code,
        domains: &domains,
        assertions: Assertions::Exit,
        oracle: guide as &mut dyn Oracle,
        complete: &mut complete,
        events: None,
        n_steps_left: MAX_STEPS,
        stop_after_post: false,
    }
    .start()?;
    let Some(mut conf) = start else { return Ok(None) };
    let mut turn =
        Turn { code, plan, domains: &domains, n_steps_left: MAX_STEPS, at: vec![None; plan.tasks.len()] };
    turn.at[0] = Some(0);
    let (stem, looped) = (plan.order(Phase::Stem), plan.order(Phase::Loop));
    if !turn.run(&mut conf, guide, &stem)? {
        return Ok(None);
    }
    let Some(before) = conf.pending(code) else { return Ok(None) };
    if !turn.run(&mut conf, guide, &looped)? {
        return Ok(None);
    }
    let Some(after) = conf.pending(code) else { return Ok(None) };
    // What the loop starts with is there again.
    let mut taken: Vec<usize> = Vec::new();
    let mut replaces = Vec::new();
    for &task in &looped {
        if plan.tasks[task].parent.is_none_or(|parent| plan.tasks[parent].phase == Phase::Loop) {
            continue;
        }
        let Some(pending) = turn.at[task].and_then(|at| before.iter().find(|pending| pending.task == at))
        else {
            return Ok(None);
        };
        let again = after.iter().find(|other| {
            !taken.contains(&other.task)
                && !before.iter().any(|old| old.task == other.task)
                && is_shifted(code, pending, other, shift)
        });
        let Some(again) = again else { return Ok(None) };
        taken.push(again.task);
        replaces.push((again.task, pending.task));
        turn.at[task] = Some(again.task);
        guide.tasks[again.task] = Reading::of(task);
    }
    if !turn.run(&mut conf, guide, &looped)? {
        return Ok(None);
    }
    Ok(Some(Draft { n_stem: stem.len(), n_loop: looped.len(), replaces }))
}

/// Runs tasks one after the other.
struct Turn<'a> {
    code: &'a Code,
    plan: &'a LassoPlan,
    domains: &'a Domains,
    n_steps_left: u64,
    /// Which task of the run each planned one is.
    at: Vec<Option<usize>>,
}

impl Turn<'_> {
    /// False if the run leaves the plan.
    fn run(&mut self, conf: &mut Conf, guide: &mut Guide<'_>, order: &[usize]) -> Result<bool, Limit> {
        for &planned in order {
            let Some(task) = self.at[planned] else { return Ok(false) };
            guide.schedule.push(Choice::Move(Move::Run(task)));
            guide.ways = self.plan.plan.tasks[planned].ways.clone();
            guide.taken = 0;
            let n_tasks = conf.tasks.len();
            let mut complete = true;
            let mut machine = Machine {
                code: self.code,
                domains: self.domains,
                assertions: Assertions::Exit,
                oracle: guide as &mut dyn Oracle,
                complete: &mut complete,
                events: None,
                n_steps_left: self.n_steps_left,
                stop_after_post: false,
            };
            let stop = machine.run_task(conf, task)?;
            self.n_steps_left = machine.n_steps_left;
            if stop != Stop::Completed {
                return Ok(false);
            }
            let posts = &self.plan.tasks[planned].posts;
            if conf.tasks.len() - n_tasks != posts.len() {
                return Ok(false);
            }
            for (&post, child) in posts.iter().zip(n_tasks..) {
                let mut plan = usize::MAX;
                if let Posted::Dispatched(of) = post {
                    self.at[of] = Some(child);
                    plan = of;
                }
                guide.tasks.push(Reading::of(plan));
            }
        }
        Ok(true)
    }
}

/// Whether a task is another with its marked arguments shifted.
fn is_shifted(code: &Code, before: &Pending, after: &Pending, by: i128) -> bool {
    if before.procedure != after.procedure {
        return false;
    }
    let (checked, types) = (&code.checked, &code.procedures[before.procedure].types);
    let marks = shift::marked_params(code, before.procedure);
    let args = before.args.iter().zip(&after.args);
    args.zip(types.iter().zip(marks)).all(|((before, after), (&ty, marked))| {
        is_same(checked, ty, before, after, if marked { by } else { 0 })
    })
}

/// Whether a value is another one with its numbers shifted.
pub(super) fn is_same(checked: &Checked, ty: Ty, before: &Value, after: &Value, by: i128) -> bool {
    match (before, after, checked.types.kind(ty)) {
        (Value::Map(before), Value::Map(after), TyKind::Map(args, result)) => {
            let indices: BTreeSet<&[Value]> =
                before.entries().chain(after.entries()).map(|(index, _)| index).collect();
            // One function may be written with several defaults where it has finitely many arguments.
            let is_full = n_indices(checked, args) == Some(indices.len() as u64);
            let same = |before: &Value, after: &Value| is_same(checked, *result, before, after, by);
            indices.iter().all(|index| same(before.get(index), after.get(index)))
                && (is_full || same(before.default_value(), after.default_value()))
        }
        (Value::Int(before), Value::Int(after), _) => before.checked_add(by) == Some(*after),
        _ => before == after,
    }
}

/// Whether the second configuration repeats the first: globals are equal up to the shift, and all that is pending in
/// the first is pending in the second.
fn repeats(code: &Code, before: &Conf, after: &Conf, by: i128) -> bool {
    let checked = &code.checked;
    let globals =
        before.globals.iter().zip(&after.globals).zip(&checked.globals).all(|((before, after), &var)| {
            let by = if shift::is_marked_global(checked, var) { by } else { 0 };
            is_same(checked, checked.vars[var].ty, before, after, by)
        });
    let (Some(before), Some(mut after)) = (before.pending(code), after.pending(code)) else { return false };
    globals
        && before.iter().all(|pending| {
            // A task that nothing dispatches stays what it is; others come again.
            let position = after
                .iter()
                .position(|other| other.task == pending.task)
                .or_else(|| after.iter().position(|other| is_shifted(code, pending, other, by)));
            position.map(|position| after.remove(position)).is_some()
        })
}

/// The run once more, under full concurrency and from its schedule alone, cut after every task.
fn certify(code: &Code, schedule: &[Choice], draft: &Draft, shift: i128) -> Option<Certificate> {
    let options = RunOptions { max_steps: 4 * MAX_STEPS, ..RunOptions::default() };
    let part = |end: usize| {
        let mut answers = Replay::trusting(&schedule[..end]);
        let run = run(code, &options, &mut answers);
        // The schedule ends where tasks are still pending.
        let ends = answers.is_done() && run.ending == Ending::Limit(Limit::Schedule);
        ends.then_some((run, answers.n_trusted, answers.n_axioms))
    };
    let is_move = |&at: &usize| matches!(schedule[at], Choice::Move(_));
    let mut confs = Vec::new();
    for cut in (0..schedule.len()).filter(is_move) {
        confs.push(part(cut)?.0.conf?);
    }
    let (run, n_trusted, n_axioms) = part(schedule.len())?;
    confs.push(run.conf.clone()?);
    let (first, second) = (draft.n_stem, draft.n_stem + draft.n_loop);
    let is_valid = draft.n_loop > 0
        && confs.len() == second + draft.n_loop + 1
        && confs.iter().skip(1).all(|conf| conf.pending(code).is_some())
        && repeats(code, &confs[first], &confs[second], shift)
        && repeats(code, &confs[second], &confs[second + draft.n_loop], shift);
    is_valid.then(|| Certificate {
        n_stem: draft.n_stem,
        n_loop: draft.n_loop,
        confs,
        replaces: draft.replaces.clone(),
        run,
        shift,
        n_trusted,
        n_axioms,
    })
}

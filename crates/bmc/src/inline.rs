//! Stratified inlining: a partially inlined call tree in one solver process.
//!
//! Call sites that are not inlined are *open*. Two questions alternate. (U) assumes that no open site
//! is reached: satisfiable means a real failing execution. (O) leaves what open calls do arbitrary,
//! except beyond the recursion bound: unsatisfiable means that nothing fails within the bound. If
//! neither decides, the open sites on the path of the model of (O) are inlined. The core of an
//! unsatisfiable (O) tells whether the bound may have mattered; a last question without it settles that.
//!
//! The recursion depth of a call site is one plus the number of sites around it with the same callee;
//! sites deeper than the bound are blocked. Loops are procedures here, so the bound covers them too.
//!
//! Procedures with the attribute `{:recursion_group "name"}` and the same name there count as one procedure, and turns of
//! a loop in one of them count per call: a translation that runs posted tasks as nested calls is then bounded by the length
//! of causal chains, however it clones procedures.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use allways_base::{Idx, IndexVec};
use allways_boogie::check::{Checked, Ty};
use allways_boogie::tree::{DeclKind, ExprKind};
use allways_run::{Observer, Progress};

use crate::flow::{Flow, ProcId, VariableKind};
use crate::model::Model;
use crate::passive::{Template, fill, passive_form};
use crate::smt::{CheckResult, Session, SolverError};
use crate::theory;
use crate::trace::{Assigned, Trace, TraceStep};
use crate::value::Value;

/// Instances that are inlined without asking, as long as they are not recursive.
const EAGER_INSTANCES: usize = 300;

/// How many instances of recursive procedures one refinement may add at most. In programs with recursion groups a
/// refinement adds one: their trees of calls are wide, and only what the path of the model meets is worth a look.
const MAX_BURST: usize = 64;

/// How far calls are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recursion {
    /// Exactly this bound.
    Exactly(u32),
    /// One after the other up to this bound, ending at the first that fails or suffices.
    UpTo(u32),
}

/// What the search says.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// An assertion fails, with the smallest bound at which it was found.
    Fails { trace: Trace, recursion: u32 },
    /// A run that fails unless a quantifier forbids it. Only with [`Quantifiers::Quick`](crate::Quantifiers::Quick).
    Candidate { trace: Trace, recursion: u32 },
    /// Nothing fails with at most `recursion` nested calls of one procedure. If the bound was not
    /// reached, nothing fails at all.
    Holds { recursion: u32, bound_reached: bool },
    /// The solver did not decide. This is no statement about the program.
    Unknown { reason: String, recursion: u32 },
    /// The observer asked to stop.
    Stopped { recursion: u32 },
}

/// What a recursion bound is about.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Nesting {
    /// Turns of loops.
    pub loops: bool,
    /// Calls of a procedure inside of itself.
    pub calls: bool,
}

/// What a run is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Claim {
    /// An assertion fails.
    Fails,
    Nothing,
}

/// Figures of a run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stats {
    pub n_queries: u64,
    pub n_instances: u64,
    pub solver_time: Duration,
}

/// An instance and one of its calls.
type SiteKey = (usize, usize);

struct Instance {
    proc: ProcId,
    slots: Vec<Rc<str>>,
    /// The instance behind each call, once it is inlined.
    children: Vec<Option<usize>>,
    parent: Option<usize>,
}

#[derive(Clone)]
struct Site {
    literal: String,
    depth: u32,
    /// A loop in a recursion group.
    is_turn: bool,
}

pub struct Inliner<'a, 's> {
    checked: &'a Checked,
    flow: &'a Flow,
    session: Session<'s>,
    observer: &'a dyn Observer,
    templates: IndexVec<ProcId, Option<Rc<Template>>>,
    recursive: IndexVec<ProcId, bool>,
    /// The recursion group of procedures and of the loops in them.
    groups: IndexVec<ProcId, Option<String>>,
    turns: Option<u32>,
    instances: Vec<Instance>,
    /// By instance and call.
    open: BTreeMap<(usize, usize), Site>,
    initial: Vec<(String, Ty, String)>,
}

impl<'a, 's> Inliner<'a, 's> {
    pub fn new(
        checked: &'a Checked,
        flow: &'a Flow,
        session: Session<'s>,
        observer: &'a dyn Observer,
    ) -> Self {
        Inliner {
            checked,
            flow,
            session,
            observer,
            templates: flow.procs.iter().map(|_| None).collect(),
            recursive: recursive(flow),
            groups: groups(checked, flow),
            turns: None,
            instances: Vec::new(),
            open: BTreeMap::new(),
            initial: Vec::new(),
        }
    }

    /// Bounds the turns of loops in recursion groups, which cannot be more than the recursion bound anyway.
    pub fn limit_turns(&mut self, turns: Option<u32>) {
        self.turns = turns;
    }

    pub fn run(&mut self, recursion: Recursion) -> Result<Answer, SolverError> {
        let (first, last) = match recursion {
            Recursion::Exactly(bound) => (bound, bound),
            Recursion::UpTo(bound) => (1.min(bound), bound),
        };
        self.start(first, Claim::Fails)?;
        let mut bound = first;
        loop {
            let answer = self.at_bound(bound)?;
            match answer {
                Answer::Holds { bound_reached: true, .. } if bound < last => bound += 1,
                _ => return Ok(answer),
            }
        }
    }

    /// Whether there is a run at all, where calls that are not inlined do anything.
    pub fn has_runs(&mut self) -> Result<CheckResult, SolverError> {
        self.start(1, Claim::Nothing)?;
        self.session.check(&[])
    }

    /// What may nest without end, as far as the text of the program shows.
    pub fn nesting(&self) -> Nesting {
        let recursive =
            self.recursive.iter().zip(self.flow.procs.iter()).filter(|(is_recursive, _)| **is_recursive);
        recursive.fold(Nesting::default(), |found, (_, proc)| Nesting {
            loops: found.loops || proc.is_loop,
            calls: found.calls || !proc.is_loop,
        })
    }

    pub fn stats(&self) -> Stats {
        Stats {
            n_queries: self.session.n_checks,
            n_instances: self.instances.len() as u64,
            solver_time: self.session.time(),
        }
    }

    /// Everything said to the solver, if it was kept.
    pub fn into_log(self) -> Option<String> {
        self.session.into_log()
    }

    fn template(&mut self, proc: ProcId) -> Rc<Template> {
        if let Some(template) = &self.templates[proc] {
            return template.clone();
        }
        let template = Rc::new(passive_form(self.checked, self.flow, proc));
        self.templates[proc] = Some(template.clone());
        template
    }

    /// The instance that everything starts from, with what is claimed about it.
    fn start(&mut self, bound: u32, claim: Claim) -> Result<(), SolverError> {
        let template = self.template(self.flow.start);
        let mut slots: Vec<Rc<str>> = vec!["true".into()];
        let mut text = String::new();
        for (idx, &var) in template.inputs.iter().chain(&template.outputs).enumerate() {
            let variable = &self.flow.vars[var];
            let when = if idx < template.inputs.len() { "initial" } else { "final" };
            // The place makes the name unique: a helper may be called like a global.
            let name = format!("|{} {when} {idx}|", crate::term::quotable(&variable.name));
            text.push_str(&format!("(declare-const {name} {})\n", theory::sort(self.checked, variable.ty)));
            if idx < template.inputs.len() {
                self.initial.push((variable.name.clone(), variable.ty, name.clone()));
            }
            if claim == Claim::Fails && Some(var) == self.flow.procs[self.flow.start].failed {
                text.push_str(&format!("(assert {name})\n"));
            }
            slots.push(name.into());
        }
        self.session.tell(&text)?;
        self.instantiate(self.flow.start, slots, None)?;
        let sites: Vec<(usize, usize)> = self.open.keys().copied().collect();
        self.expand(sites, bound, 1)
    }

    fn has_groups(&self) -> bool {
        self.groups.iter().any(Option::is_some)
    }

    fn instantiate(
        &mut self,
        proc: ProcId,
        slots: Vec<Rc<str>>,
        parent: Option<usize>,
    ) -> Result<usize, SolverError> {
        let number = self.instances.len();
        let template = self.template(proc);
        let text = template.instantiate(number, &slots);
        self.session.tell(&text)?;
        let children = vec![None; template.calls.len()];
        self.instances.push(Instance { proc, slots, children, parent });
        for (call_idx, call) in template.calls.iter().enumerate() {
            let literal = fill(&call.literal, number, &self.instances[number].slots);
            let depth = self.depth(number, call.callee);
            let is_turn = self.flow.procs[call.callee].is_loop && self.groups[call.callee].is_some();
            self.open.insert((number, call_idx), Site { literal, depth, is_turn });
        }
        Ok(number)
    }

    /// The recursion depth of a call of `callee` in an instance.
    fn depth(&self, instance: usize, callee: ProcId) -> u32 {
        let (group, is_loop) = (&self.groups[callee], self.flow.procs[callee].is_loop);
        let mut depth = 1;
        let mut at = Some(instance);
        while let Some(number) = at {
            let Instance { proc, parent, .. } = self.instances[number];
            let in_loop = self.flow.procs[proc].is_loop;
            if group.is_some() && is_loop && !in_loop {
                break;
            }
            let is_alike = group.is_some() && !is_loop && !in_loop && self.groups[proc] == *group;
            depth += u32::from(proc == callee || is_alike);
            at = parent;
        }
        depth
    }

    fn callee(&mut self, site: (usize, usize)) -> ProcId {
        let proc = self.instances[site.0].proc;
        self.template(proc).calls[site.1].callee
    }

    fn blocked(&self, site: &Site, bound: u32) -> bool {
        let bound = match self.turns {
            Some(turns) if site.is_turn => turns.min(bound),
            _ => bound,
        };
        // The entry point itself always runs.
        site.depth > bound.max(1)
    }

    /// Inlines sites, what they call without recursion, and up to `burst` recursive calls below.
    fn expand(&mut self, sites: Vec<(usize, usize)>, bound: u32, burst: usize) -> Result<(), SolverError> {
        let mut queue: VecDeque<((usize, usize), bool)> =
            sites.into_iter().map(|site| (site, true)).collect();
        let mut n_left = burst;
        while let Some((key, wanted)) = queue.pop_front() {
            let Some(site) = self.open.get(&key).cloned() else { continue };
            if self.blocked(&site, bound) {
                continue;
            }
            let callee = self.callee(key);
            if !wanted {
                if self.recursive[callee] {
                    if n_left == 0 {
                        continue;
                    }
                    n_left -= 1;
                } else if self.instances.len() >= EAGER_INSTANCES {
                    continue;
                }
            }
            self.open.remove(&key);
            let (parent, call_idx) = key;
            let template = self.template(self.instances[parent].proc);
            let call = &template.calls[call_idx];
            let mut slots: Vec<Rc<str>> = vec![site.literal.into()];
            for text in call.inputs.iter().chain(&call.outputs) {
                slots.push(fill(text, parent, &self.instances[parent].slots).into());
            }
            let child = self.instantiate(callee, slots, Some(parent))?;
            self.instances[parent].children[call_idx] = Some(child);
            let below: Vec<(usize, usize)> =
                self.open.range((child, 0)..(child + 1, 0)).map(|(&key, _)| key).collect();
            queue.extend(below.into_iter().map(|key| (key, false)));
        }
        Ok(())
    }

    fn at_bound(&mut self, bound: u32) -> Result<Answer, SolverError> {
        let max_burst = if self.has_groups() { 1 } else { MAX_BURST };
        let mut burst = 1;
        loop {
            self.observer.progress(&Progress {
                n_schedules: Some(self.session.n_checks),
                n_steps: self.instances.len() as u64,
                frontier: Some(self.open.len() as u64),
                depth: u64::from(bound),
                ..Progress::default()
            });
            if self.observer.should_stop() {
                return Ok(Answer::Stopped { recursion: bound });
            }
            let negate = |site: &Site| format!("(not {})", site.literal);
            let all: BTreeSet<String> = self.open.values().map(negate).collect();
            let blocked: BTreeSet<String> =
                self.open.values().filter(|site| self.blocked(site, bound)).map(negate).collect();
            let is_open = all.len() > blocked.len();
            let all: Vec<String> = all.into_iter().collect();
            let needs_bound = |core: &[String]| core.iter().any(|literal| blocked.contains(literal));
            let mut undecided = None;
            match self.session.check(&all)? {
                CheckResult::Sat => {
                    let (path, _) = self.walk()?;
                    let trace = self.trace(path)?;
                    return Ok(Answer::Fails { trace, recursion: bound });
                }
                CheckResult::Unsat(core) => {
                    let needs_open = core.iter().any(|literal| !blocked.contains(literal));
                    if !is_open || !needs_open {
                        return self.holds(bound, needs_bound(&core));
                    }
                }
                CheckResult::Unknown(reason) => {
                    if let Some((path, _)) = self.candidate()? {
                        let trace = self.trace(path)?;
                        return Ok(Answer::Candidate { trace, recursion: bound });
                    }
                    undecided = Some(reason);
                }
            }
            if is_open {
                let blocked: Vec<String> = blocked.iter().cloned().collect();
                match self.session.check(&blocked)? {
                    CheckResult::Unsat(core) => return self.holds(bound, needs_bound(&core)),
                    CheckResult::Unknown(reason) => {
                        if let Some((_, met)) = self.candidate()?
                            && !met.is_empty()
                        {
                            self.expand(met, bound, burst)?;
                            burst = (burst * 2).min(max_burst);
                            continue;
                        }
                        undecided.get_or_insert(reason);
                    }
                    CheckResult::Sat => {
                        let (path, met) = self.walk()?;
                        if met.is_empty() {
                            let trace = self.trace(path)?;
                            return Ok(Answer::Fails { trace, recursion: bound });
                        }
                        self.expand(met, bound, burst)?;
                        burst = (burst * 2).min(max_burst);
                        continue;
                    }
                }
            }
            // Nothing was decided. More of the program may help, until there is no more.
            let sites: Vec<(usize, usize)> = self
                .open
                .iter()
                .filter(|(_, site)| !self.blocked(site, bound))
                .map(|(&key, _)| key)
                .collect();
            match undecided {
                Some(reason) if sites.is_empty() => return Ok(Answer::Unknown { reason, recursion: bound }),
                _ => self.expand(sites, bound, burst)?,
            }
        }
    }

    /// Nothing fails within the bound. Cores need not be small: whether the bound mattered is asked once more, with no
    /// call blocked, so that the answer depends on the program and less on the solver.
    fn holds(&mut self, bound: u32, needs_bound: bool) -> Result<Answer, SolverError> {
        let bound_reached = needs_bound && !matches!(self.session.check(&[])?, CheckResult::Unsat(_));
        Ok(Answer::Holds { recursion: bound, bound_reached })
    }

    /// The path of the model that an undecided check has left, if it has.
    fn candidate(&mut self) -> Result<Option<Walk>, SolverError> {
        if !self.session.gives_candidates {
            return Ok(None);
        }
        match self.walk() {
            Ok(path) => Ok(Some(path)),
            // It ran out of time before there was one.
            Err(SolverError::Complaint(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The path of the model.
    fn walk(&mut self) -> Result<Walk, SolverError> {
        let mut path = Vec::new();
        let mut met = Vec::new();
        // Where each unfinished instance goes on: block and step.
        let mut stack: Vec<Cursor> = vec![self.enter(0)?];
        path.push(PathItem::Enter(0));
        while let Some(cursor) = stack.last_mut() {
            let number = cursor.instance;
            let template = cursor.template.clone();
            let Some(block) = template.blocks.get(cursor.block) else {
                stack.pop();
                path.push(PathItem::Leave(number));
                continue;
            };
            if let Some(step) = block.steps.get(cursor.step) {
                path.push(PathItem::Step(number, cursor.block, cursor.step));
                cursor.step += 1;
                if let Some(call_idx) = step.call {
                    match self.instances[number].children[call_idx] {
                        Some(child) => {
                            let cursor = self.enter(child)?;
                            path.push(PathItem::Enter(child));
                            stack.push(cursor);
                        }
                        None => met.push((number, call_idx)),
                    }
                }
                continue;
            }
            if let Some(failure) = block.failure {
                path.push(PathItem::Failure(failure));
            }
            let taken = block.ways.iter().position(|(literal, _)| {
                block.ways.len() == 1
                    || cursor.truths.contains(&fill(literal, number, &self.instances[number].slots))
            });
            match taken {
                Some(way) => {
                    cursor.block = block.ways[way].1;
                    cursor.step = 0;
                }
                None => {
                    stack.pop();
                    path.push(PathItem::Leave(number));
                }
            }
        }
        Ok((path, met))
    }

    fn enter(&mut self, number: usize) -> Result<Cursor, SolverError> {
        let template = self.template(self.instances[number].proc);
        let mut literals: BTreeSet<String> = BTreeSet::new();
        for block in template.blocks.iter().filter(|block| block.ways.len() > 1) {
            for (literal, _) in &block.ways {
                literals.insert(fill(literal, number, &self.instances[number].slots));
            }
        }
        let literals: Vec<String> = literals.into_iter().collect();
        let values = self.session.values(&literals)?;
        let truths = literals
            .into_iter()
            .zip(values)
            .filter(|(_, value)| value.atom() == Some("true"))
            .map(|(literal, _)| literal)
            .collect();
        Ok(Cursor { instance: number, block: template.entry, step: 0, truths, template })
    }

    /// The path with the values of the model.
    fn trace(&mut self, path: Vec<PathItem>) -> Result<Trace, SolverError> {
        let mut terms: Vec<String> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut place = |text: String| {
            *places.entry(text.clone()).or_insert_with(|| {
                terms.push(text);
                terms.len() - 1
            })
        };
        let initial: Vec<Asked> =
            self.initial.iter().map(|(name, ty, text)| (name.clone(), *ty, place(text.clone()))).collect();
        let constants: Vec<Asked> = self
            .checked
            .consts
            .iter()
            .map(|&var| {
                let info = &self.checked.vars[var];
                let name = self.checked.program.text(info.name.symbol);
                (name.to_owned(), info.ty, place(crate::lower::constant_name(name)))
            })
            .collect();
        let mut steps: Vec<(TraceStep, Vec<Asked>, Vec<Asked>)> = Vec::new();
        let mut failure = None;
        for item in path {
            match item {
                PathItem::Enter(number) => {
                    let proc = &self.flow.procs[self.instances[number].proc];
                    let slots = &self.instances[number].slots;
                    let args = proc
                        .params
                        .iter()
                        .enumerate()
                        .map(|(idx, &param)| {
                            let variable = &self.flow.vars[param];
                            (variable.name.clone(), variable.ty, place(slots[1 + idx].to_string()))
                        })
                        .collect();
                    let template = self.templates[self.instances[number].proc].clone();
                    let unset = template.iter().flat_map(|template| &template.unset);
                    let locals = unset
                        .filter(|(var, _)| self.flow.vars[*var].kind != VariableKind::Helper)
                        .map(|(var, text)| {
                            let variable = &self.flow.vars[*var];
                            (variable.name.clone(), variable.ty, place(fill(text, number, slots)))
                        })
                        .collect();
                    let step = TraceStep::Enter {
                        procedure: proc.name.clone(),
                        is_loop: proc.is_loop,
                        args: Vec::new(),
                        locals: Vec::new(),
                    };
                    steps.push((step, args, locals));
                }
                PathItem::Leave(number) => {
                    let proc = &self.flow.procs[self.instances[number].proc];
                    let step = TraceStep::Leave { procedure: proc.name.clone(), is_loop: proc.is_loop };
                    steps.push((step, Vec::new(), Vec::new()));
                }
                PathItem::Step(number, block, step) => {
                    let template = self.templates[self.instances[number].proc].clone();
                    let Some(template) = template else { continue };
                    let step = &template.blocks[block].steps[step];
                    let Some(stmt) = step.origin else {
                        let body = step.way.map(TraceStep::Body);
                        steps.extend(body.map(|body| (body, Vec::new(), Vec::new())));
                        continue;
                    };
                    let slots = &self.instances[number].slots;
                    let values = step
                        .values
                        .iter()
                        .filter(|(var, _)| self.flow.vars[*var].kind != VariableKind::Helper)
                        .map(|(var, text)| {
                            let variable = &self.flow.vars[*var];
                            (variable.name.clone(), variable.ty, place(fill(text, number, slots)))
                        })
                        .collect();
                    let step = TraceStep::Stmt { stmt, values: Vec::new(), way: step.way };
                    steps.push((step, values, Vec::new()));
                }
                PathItem::Failure(idx) => {
                    failure.get_or_insert_with(|| self.flow.failures[idx].clone());
                }
            }
        }
        let values: Vec<Value> = self.session.values(&terms)?.iter().map(Value::read).collect();
        // The model in full is long, and rarely needed.
        let is_other = |value: &Value| matches!(value, Value::Other(_));
        let model = match self.checked.functions.is_empty() && !values.iter().any(is_other) {
            true => Model::default(),
            false => Model::read(&self.session.model()?),
        };
        let values: Vec<Value> = values.into_iter().map(|value| model.resolve(value)).collect();
        let assigned = |asked: Vec<Asked>| -> Vec<Assigned> {
            let with_value = |(name, ty, idx): Asked| Assigned { name, ty, value: values[idx].clone() };
            asked.into_iter().map(with_value).collect()
        };
        let steps = steps
            .into_iter()
            .map(|(step, values, locals)| match step {
                TraceStep::Enter { procedure, is_loop, .. } => {
                    let (args, locals) = (assigned(values), assigned(locals));
                    TraceStep::Enter { procedure, is_loop, args, locals }
                }
                TraceStep::Stmt { stmt, way, .. } => TraceStep::Stmt { stmt, values: assigned(values), way },
                TraceStep::Leave { .. } | TraceStep::Body(_) => step,
            })
            .collect();
        Ok(Trace { failure, initial: assigned(initial), constants: assigned(constants), model, steps })
    }
}

/// Steps in order, and the open sites on the way.
type Walk = (Vec<PathItem>, Vec<SiteKey>);

/// A variable, and the place of its value among those asked for.
type Asked = (String, Ty, usize);

enum PathItem {
    Enter(usize),
    Step(usize, usize, usize),
    Failure(usize),
    Leave(usize),
}

struct Cursor {
    instance: usize,
    block: usize,
    step: usize,
    /// The literals that are true in the model.
    truths: BTreeSet<String>,
    template: Rc<Template>,
}

/// The recursion groups, by the attributes of procedures.
fn groups(checked: &Checked, flow: &Flow) -> IndexVec<ProcId, Option<String>> {
    let program = &checked.program;
    let mut by_name: BTreeMap<&str, String> = BTreeMap::new();
    for decl in &program.decls {
        let DeclKind::Procedure(procedure) = &decl.kind else { continue };
        let group = program.attr(&decl.attrs, "recursion_group").and_then(|attr| attr.args.first());
        if let Some(&arg) = group
            && let ExprKind::Text(text) = program.exprs[arg].kind
        {
            by_name.insert(program.text(procedure.name.symbol), program.text(text).to_owned());
        }
    }
    flow.procs.iter().map(|proc| by_name.get(proc.name.as_str()).cloned()).collect()
}

/// Which procedures may call themselves, directly or not.
fn recursive(flow: &Flow) -> IndexVec<ProcId, bool> {
    let callees: IndexVec<ProcId, BTreeSet<ProcId>> = flow
        .procs
        .iter()
        .map(|proc| {
            let instrs = proc.blocks.iter().flat_map(|block| &block.instrs);
            instrs
                .filter_map(|instr| match instr.kind {
                    crate::flow::InstrKind::Call { callee, .. } => Some(callee),
                    _ => None,
                })
                .collect()
        })
        .collect();
    (0..flow.procs.len())
        .map(|idx| {
            let root = ProcId::new(idx);
            let mut seen = BTreeSet::new();
            let mut work: Vec<ProcId> = callees[root].iter().copied().collect();
            while let Some(proc) = work.pop() {
                if seen.insert(proc) {
                    work.extend(&callees[proc]);
                }
            }
            seen.contains(&root)
        })
        .collect()
}

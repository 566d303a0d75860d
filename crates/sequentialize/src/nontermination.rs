//! From non-termination to reachability: the translation of Emmi and Lal, "Finding Non-Terminating Executions in
//! Distributed Asynchronous Programs" (2012), section 3, as corrected in the project's reference.
//!
//! An infinite run of a finite-data program passes through two idle configurations with equal globals such that every task
//! pending at the first is pending at the second: a *lasso*. The translated program, again an asynchronous one, guesses
//! the globals `g.guess` at the first of the two, runs the stem on the globals `g` and the loop on copies `g.loop`, and
//! compares the two multisets of pending tasks by tasks of its own. What becomes of a posted task is chosen freely:
//!
//! | fate | where | translation |
//! |---|---|---|
//! | pending when the loop starts | stem | `post pro.p(e); post p.loop(e); repeated := true` |
//! | pending when the loop ends, matched | loop | `post anti.p(e)` |
//! | never dispatched | both; under fairness only the loop | nothing |
//! | dispatched in the same phase | both | `post p(e)` or `post p.loop(e)` |
//!
//! `pro` and `anti` tasks have to alternate with equal arguments, so the multisets match one to one. A run is accepted that
//! ends with `repeated`, `turn`, `g == g.guess` and `g.loop == g.guess` for every `g`.
//!
//! *Fairness.* Dispatches in the loop are numbered by `dispatches`, and functions without definition give procedure and
//! arguments of each. To drop a task in the loop, one names a dispatch of an equal task, below their number in the end,
//! `dispatches.guess`. Neither maps nor quantifiers are needed, as they are in the paper.
//!
//! *Uniform shift.* Globals and parameters marked `{:shift}` may all be larger by one `shift.amount >= 0` at the end of the
//! loop, pending tasks included. [`shift`] decides whether such a loop repeats for ever.
//!
//! Where we differ from the paper: procedures are cloned per phase instead of indexed by a flag, so that calls need no case
//! split; both clones count towards one recursion bound (`{:recursion_group}`). `repeated` and `dispatches` do not depend on
//! the order of tasks and have one copy for all rounds.

pub mod causes;
mod clones;
pub mod describe;
pub mod lasso;
pub mod shift;

use std::collections::{BTreeMap, BTreeSet};

use allways_base::{Sources, Span, Symbol};
use allways_boogie::check::{Checked, Ty, VarId, VarKind};
use allways_boogie::dialect::AsyncOp;
use allways_boogie::interp::lower::is_task_type;
use allways_boogie::tree::*;
use allways_boogie::walk::BodyOf;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::build::{Builder, complete_modifies};
use crate::effects::EffectTable;
use crate::translate::{Goal, translate_for};
use crate::{Assertions, Options, Preemption, Scheduler, Sequentialized, Unsupported, preemption, rechecked};

/// What the user set.
#[derive(Clone, Copy)]
pub struct NonTermination<'a> {
    /// The number of rounds, at least one.
    pub rounds: u32,
    /// Only fair runs count: a task posted infinitely often is dispatched infinitely often.
    pub fair: bool,
    /// For the places in `{:origin}` attributes.
    pub sources: Option<&'a Sources>,
}

/// A part of a lasso.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Phase {
    Stem,
    Loop,
}

/// What becomes of a posted task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Compared with the tasks that are pending at the end of the loop.
    Pro,
    /// Dispatched in this phase.
    Dispatched(Phase),
    /// Pending at the end of the loop, where it matches one of the start.
    Kept,
    /// Never dispatched.
    Dropped,
}

/// How to read runs of the translated program.
#[derive(Clone, Default, Debug)]
pub struct Legend {
    /// Statements that decide the fate of a posted task.
    pub fates: FxHashMap<StmtId, Fate>,
    /// The choices between these.
    pub choices: FxHashSet<StmtId>,
    /// Statements of the original that the others stand for, where they differ.
    pub stands_for: FxHashMap<StmtId, StmtId>,
    /// Procedures of the loop by name, with the procedure of the original.
    pub loop_procedures: FxHashMap<String, String>,
    /// Globals of the loop by name, with the global of the original.
    pub loop_globals: FxHashMap<String, String>,
    /// The constant by which marked values grow per turn, if anything is marked.
    pub shift: Option<String>,
}

/// Translates a program twice: a lasso becomes a run that reaches a goal, then such a run under the K-round scheduler
/// becomes a run of a sequential program that fails its only assertion.
///
/// # Errors
/// When the program uses something that has no meaning for message-passing tasks, such as waits.
pub fn sequentialize(
    checked: &Checked,
    entry: Symbol,
    options: &NonTermination<'_>,
) -> Result<(Sequentialized, Legend), Unsupported> {
    let (program, removed) = preemption::remove_points(checked)?;
    debug_assert!(removed.is_empty(), "removing points keeps statements");
    let serial = rechecked(program, "these preemption points")?;
    let (program, goal, legend) = translate(&serial, entry, options.fair)?;
    let translated = rechecked(program, "this program")?;
    let rounds = Options {
        scheduler: Scheduler::Rounds { rounds: options.rounds.max(1) },
        assertions: Assertions::Exit,
        preemption: Preemption::Serial,
        sources: options.sources,
    };
    let mut done = translate_for(&translated, entry, &rounds, Some(&goal))?;
    let is_original = |name: &Symbol| checked.globals.iter().any(|&v| checked.vars[v].name.symbol == *name);
    done.finals.retain(|(name, _)| is_original(name));
    done.initials.retain(|(name, _)| is_original(name));
    Ok((done, legend))
}

/// The first of the two translations: an asynchronous program and the goal of its runs.
pub fn translate(
    checked: &Checked,
    entry: Symbol,
    fair: bool,
) -> Result<(Program, Goal, Legend), Unsupported> {
    let Some((_, procedure)) = checked.program.procedure(entry) else {
        return Err(Unsupported { what: "a program without entry point".to_owned(), span: None });
    };
    let effects = EffectTable::new(checked);
    let mut translator = Translator {
        checked,
        entry,
        fair,
        build: Builder::new(&checked.program, procedure.name.span),
        posted: posted(&effects, entry),
        looped: BTreeSet::new(),
        copies: BTreeMap::new(),
        loop_names: BTreeMap::new(),
        tasks: BTreeMap::new(),
        last: BTreeMap::new(),
        turn: entry,
        repeated: entry,
        tag: entry,
        amount: None,
        dispatches: entry,
        n_dispatches: entry,
        dispatched: entry,
        locals: Vec::new(),
        legend: Legend::default(),
    };
    translator.reject_unsupported(&effects)?;
    translator.plan(&effects);
    translator.run(&effects)
}

/// The procedures that are posted by something that runs because of `entry`.
fn posted(effects: &EffectTable, entry: Symbol) -> BTreeSet<Symbol> {
    effects.below(entry).flat_map(|(_, effects)| effects.posts.iter().copied()).collect()
}

/// Names that belong to a posted procedure.
#[derive(Clone)]
struct Task {
    number: i64,
    pro: Symbol,
    anti: Symbol,
    /// Types of the parameters.
    types: Vec<TypeId>,
    /// `last.*` variables of the parameters.
    last: Vec<Symbol>,
    /// The parameters marked `{:shift}`.
    shifted: Vec<bool>,
    /// Under fairness: the arguments of a dispatch by its number, `None` for those that shift.
    argument: Vec<Option<Symbol>>,
}

struct Translator<'a> {
    checked: &'a Checked,
    entry: Symbol,
    fair: bool,
    build: Builder,
    posted: BTreeSet<Symbol>,
    /// Procedures that may run in the loop.
    looped: BTreeSet<Symbol>,
    /// Globals with a copy for the loop: the copy, and the guess.
    copies: BTreeMap<VarId, (Symbol, Symbol)>,
    /// The clones of procedures for the loop.
    loop_names: BTreeMap<Symbol, Symbol>,
    tasks: BTreeMap<Symbol, Task>,
    /// The last `pro` task: one variable per type, as printed, and position.
    last: BTreeMap<(String, usize), (Symbol, TypeId)>,
    turn: Symbol,
    repeated: Symbol,
    /// The procedure of the last `pro` task.
    tag: Symbol,
    /// The constant that marked values grow by.
    amount: Option<Symbol>,
    /// Under fairness: the number of dispatches in the loop so far, and in the end; the procedure of each.
    dispatches: Symbol,
    n_dispatches: Symbol,
    dispatched: Symbol,
    /// Local variables that the body under translation needs.
    locals: Vec<Binding>,
    legend: Legend,
}

impl<'a> Translator<'a> {
    fn reject_unsupported(&self, effects: &EffectTable) -> Result<(), Unsupported> {
        let checked = self.checked;
        let reject = |what: &str, span: Span| Err(Unsupported { what: what.to_owned(), span: Some(span) });
        for (name, _) in effects.below(self.entry) {
            for BodyOf { body, .. } in self.checked.program.bodies_of(name) {
                for id in checked.program.stmts_below(&body.block) {
                    let span = checked.program.stmts[id].span;
                    match checked.async_op(id) {
                        Some(AsyncOp::Wait { .. } | AsyncOp::WaitAll) => {
                            return reject(
                                "waits when searching for non-termination, because tasks then run to completion",
                                span,
                            );
                        }
                        Some(AsyncOp::OwnId { .. } | AsyncOp::ChildId { .. }) => {
                            return reject(
                                "task numbers when searching for non-termination, because they never repeat",
                                span,
                            );
                        }
                        Some(AsyncOp::Post(post)) if post.task_id.is_some() => {
                            return reject(
                                "task numbers when searching for non-termination, because they never repeat",
                                span,
                            );
                        }
                        _ => {}
                    }
                }
            }
        }
        for &var in &checked.globals {
            let info = &checked.vars[var];
            if shift::is_marked_global(checked, var) && !shift::can_shift(checked, info.ty) {
                return reject(
                    "`{:shift}` on a variable that is neither `int` nor a map to `int`",
                    info.name.span,
                );
            }
        }
        for &name in &self.posted {
            let Some((decl_idx, procedure)) = checked.program.procedure(name) else { continue };
            let frame = checked.frames.get(&decl_idx).cloned().unwrap_or_default();
            for &param in frame.vars.iter().take(frame.n_params) {
                if is_task_type(checked, checked.vars[param].ty) {
                    return reject("a posted task that takes a handle", checked.vars[param].name.span);
                }
            }
            for (&param, binding) in frame.vars.iter().zip(&procedure.params) {
                if shift::is_marked(&checked.program, &binding.attrs) && checked.vars[param].ty != Ty::INT {
                    return reject("`{:shift}` on a parameter that is not `int`", binding.name.span);
                }
            }
            if self.checked.program.bodies_of(name).count() > 1 {
                return reject("a posted task with several implementations", procedure.name.span);
            }
            for (_, effects) in effects.below(name) {
                let is_private = |var: &&VarId| checked.vars[**var].kind == VarKind::ThreadLocal;
                if let Some(&var) = effects.accesses.iter().find(is_private) {
                    return reject(
                        "thread-local variables when searching for non-termination",
                        checked.vars[var].name.span,
                    );
                }
            }
        }
        Ok(())
    }

    /// Decides on names: what has a copy, which procedures have a clone, what posted tasks are compared by.
    fn plan(&mut self, effects: &EffectTable) {
        let checked = self.checked;
        self.looped =
            self.posted.iter().flat_map(|&task| effects.below(task)).map(|(name, _)| name).collect();
        let modified: BTreeSet<VarId> =
            effects.below(self.entry).flat_map(|(_, effects)| effects.modifies.iter().copied()).collect();
        let looped = self.looped.clone();
        let accessed: BTreeSet<VarId> =
            looped.iter().flat_map(|&name| effects.of(name).accesses.into_iter()).collect();
        for &var in modified.intersection(&accessed) {
            let text = checked.program.text(checked.vars[var].name.symbol).to_owned();
            let copy = self.build.fresh(&format!("{text}.loop"));
            let guess = self.build.fresh(&format!("{text}.guess"));
            self.legend.loop_globals.insert(self.build.program.text(copy).to_owned(), text);
            self.copies.insert(var, (copy, guess));
        }
        for &name in &looped {
            let text = checked.program.text(name).to_owned();
            let clone = self.build.fresh(&format!("{text}.loop"));
            self.legend.loop_procedures.insert(self.build.program.text(clone).to_owned(), text);
            self.loop_names.insert(name, clone);
        }
        self.turn = self.build.fresh("turn");
        self.repeated = self.build.fresh("repeated");
        self.tag = self.build.fresh("last");
        self.dispatches = self.build.fresh("dispatches");
        self.n_dispatches = self.build.fresh("dispatches.guess");
        self.dispatched = self.build.fresh("dispatched");
        let mut is_shifted = self.copies.keys().any(|&var| shift::is_marked_global(checked, var));
        for (number, &name) in self.posted.clone().iter().enumerate() {
            let Some((decl_idx, procedure)) = checked.program.procedure(name) else { continue };
            let frame = checked.frames.get(&decl_idx).cloned().unwrap_or_default();
            let text = checked.program.text(name).to_owned();
            let mut used: BTreeMap<String, usize> = BTreeMap::new();
            let (mut types, mut last) = (Vec::new(), Vec::new());
            for &param in frame.vars.iter().take(frame.n_params) {
                let ty = checked.vars[param].ty;
                let shown = checked.show_type(ty);
                let ty = self.build.type_of(checked, ty);
                let position = used.entry(shown.clone()).or_default();
                let key = (shown, *position);
                *position += 1;
                let slot = match self.last.get(&key) {
                    Some(&(slot, _)) => slot,
                    None => {
                        let slot = self.build.fresh(&format!("last.{}", self.last.len()));
                        self.last.insert(key, (slot, ty));
                        slot
                    }
                };
                types.push(ty);
                last.push(slot);
            }
            let shifted: Vec<bool> = procedure
                .params
                .iter()
                .map(|param| shift::is_marked(&checked.program, &param.attrs))
                .collect();
            is_shifted |= shifted.contains(&true);
            let argument = |(position, shifted): (usize, &bool)| {
                (!shifted).then(|| self.build.fresh(&format!("dispatched.{text}.{position}")))
            };
            let argument = shifted.iter().enumerate().map(argument).collect();
            let task = Task {
                number: number as i64,
                pro: self.build.fresh(&format!("pro.{text}")),
                anti: self.build.fresh(&format!("anti.{text}")),
                types,
                last,
                shifted,
                argument,
            };
            self.tasks.insert(name, task);
        }
        if is_shifted {
            let amount = self.build.fresh("shift.amount");
            self.legend.shift = Some(self.build.program.text(amount).to_owned());
            self.amount = Some(amount);
        }
    }

    fn run(mut self, effects: &EffectTable) -> Result<(Program, Goal, Legend), Unsupported> {
        let mut decls = self.declarations();
        let reached: BTreeSet<Symbol> = effects.below(self.entry).map(|(name, _)| name).collect();
        let original = std::mem::take(&mut self.build.program.decls);
        for (decl_idx, decl) in original.iter().enumerate() {
            let name = match &decl.kind {
                DeclKind::Procedure(procedure) => procedure.name.symbol,
                DeclKind::Implementation(implementation) => implementation.name.symbol,
                _ => {
                    decls.push(decl.clone());
                    continue;
                }
            };
            if !reached.contains(&name) {
                continue;
            }
            decls.push(self.stem_clone(decl, name)?);
            if self.looped.contains(&name) {
                decls.push(self.loop_clone(decl_idx, decl, name));
            }
        }
        for task in self.tasks.clone().values() {
            decls.extend(self.comparison(task));
        }
        let goal = self.goal();
        self.build.program.decls = decls;
        complete_modifies(&mut self.build.program);
        Ok((self.build.program, goal, self.legend))
    }

    /// Copies, guesses and flags, with what holds of them at the start.
    fn declarations(&mut self) -> Vec<Decl> {
        let mut decls = Vec::new();
        let mut initially = Vec::new();
        for (&var, &(copy, guess)) in &self.copies {
            let ty = self.build.type_of(self.checked, self.checked.vars[var].ty);
            decls.push(self.build.global(copy, ty));
            decls.push(self.build.constant(guess, ty));
            let (left, right) = (self.build.var(copy), self.build.var(guess));
            initially.push(self.build.eq(left, right));
        }
        let (int, flag) = (self.build.int_type(), self.build.bool_type());
        if self.tasks.len() > 1 {
            decls.push(self.build.global(self.tag, int));
        }
        for &(slot, ty) in self.last.values() {
            decls.push(self.build.global(slot, ty));
        }
        decls.push(self.build.global(self.turn, flag));
        decls.push(self.build.global(self.repeated, flag));
        initially.push(self.build.var(self.turn));
        let repeated = self.build.var(self.repeated);
        initially.push(self.build.not(repeated));
        if self.fair {
            decls.push(self.build.global(self.dispatches, int));
            decls.push(self.build.constant(self.n_dispatches, int));
            decls.push(self.function(self.dispatched, int));
            for task in self.tasks.clone().values() {
                for (&ty, function) in task.types.iter().zip(&task.argument) {
                    decls.extend(function.map(|function| self.function(function, ty)));
                }
            }
            let (zero, count) = (self.build.int(0), self.build.var(self.dispatches));
            initially.push(self.build.eq(count, zero));
        }
        if let Some(amount) = self.amount {
            decls.push(self.build.constant(amount, int));
            let (zero, value) = (self.build.int(0), self.build.var(amount));
            initially.push(self.build.binary(BinaryOp::Le, zero, value));
        }
        let all = self.build.and(&initially);
        decls.push(self.build.initially(all));
        decls
    }

    /// A function of the number of a dispatch, without definition.
    fn function(&mut self, name: Symbol, result: TypeId) -> Decl {
        let int = self.build.int_type();
        let part = |ty| FunctionParam { attrs: Vec::new(), name: None, ty };
        let function = FunctionDecl {
            name: self.build.ident(name),
            type_params: Vec::new(),
            params: vec![part(int)],
            result: part(result),
            body: None,
        };
        Decl { attrs: Vec::new(), kind: DeclKind::Function(function), span: self.build.span }
    }

    /// Whether the dispatch with a number is one of this task with these arguments, up to a shift.
    fn is_dispatch(&mut self, number: Symbol, task: &Task, args: &[ExprId]) -> ExprId {
        let apply = |translator: &mut Self, function: Symbol| {
            let (function, number) = (translator.build.ident(function), translator.build.var(number));
            let kind = ExprKind::Apply { function, args: vec![number] };
            translator.build.program.add_expr(kind, translator.build.span)
        };
        let (procedure, tag) = (apply(self, self.dispatched), self.build.int(task.number));
        let mut parts = vec![self.build.eq(procedure, tag)];
        for (&arg, function) in args.iter().zip(&task.argument) {
            if let Some(function) = *function {
                let known = apply(self, function);
                parts.push(self.build.eq(known, arg));
            }
        }
        self.build.and(&parts)
    }

    /// Counts a task that the loop dispatches, when it is posted.
    fn note_dispatch(&mut self, task: &Task, args: &[ExprId]) -> Vec<StmtId> {
        if !self.fair {
            return Vec::new();
        }
        let is_it = self.is_dispatch(self.dispatches, task, args);
        let (count, one) = (self.build.var(self.dispatches), self.build.int(1));
        let more = self.build.binary(BinaryOp::Add, count, one);
        vec![self.build.assume(is_it), self.build.assign(vec![(self.dispatches, more)])]
    }

    /// Names a dispatch of an equal task, for one that the loop drops.
    fn note_drop(&mut self, task: &Task, args: &[ExprId]) -> Vec<StmtId> {
        if !self.fair {
            return Vec::new();
        }
        let number = self.build.fresh_local("served.by");
        if !self.locals.iter().any(|local| local.name.symbol == number) {
            let int = self.build.int_type();
            self.locals.push(self.build.binding(number, int));
        }
        let (zero, value) = (self.build.int(0), self.build.var(number));
        let from = self.build.binary(BinaryOp::Le, zero, value);
        let (value, end) = (self.build.var(number), self.build.var(self.n_dispatches));
        let to = self.build.binary(BinaryOp::Lt, value, end);
        let is_it = self.is_dispatch(number, task, args);
        let all = self.build.and(&[from, to, is_it]);
        vec![self.build.havoc(&[number]), self.build.assume(all)]
    }

    /// What becomes of a posted task: a free choice among its fates.
    fn post(&mut self, id: StmtId, call: &Call, args: &[ExprId], phase: Phase) -> StmtId {
        let task = self.tasks[&call.callee.symbol].clone();
        self.build.span = self.checked.program.stmts[id].span;
        let clone = self.loop_names[&call.callee.symbol];
        let mut arms: Vec<Vec<StmtId>> = Vec::new();
        let same = match phase {
            Phase::Stem => call.callee.symbol,
            Phase::Loop => clone,
        };
        match phase {
            Phase::Stem => {
                let mut into_loop = Vec::new();
                into_loop.push(self.helper_post(task.pro, args));
                self.legend.fates.insert(into_loop[0], Fate::Pro);
                into_loop.extend(self.note_dispatch(&task, args));
                let post = self.task_post(call, clone, args);
                self.legend.fates.insert(post, Fate::Dispatched(Phase::Loop));
                into_loop.push(post);
                let yes = self.build.bool(true);
                into_loop.push(self.build.assign(vec![(self.repeated, yes)]));
                arms.push(into_loop);
            }
            Phase::Loop => {
                let post = self.helper_post(task.anti, args);
                self.legend.fates.insert(post, Fate::Kept);
                arms.push(vec![post]);
            }
        }
        if phase == Phase::Loop || !self.fair {
            let mut dropped = self.note_drop(&task, args);
            let (attr, yes) = (self.build.attr("dropped", Vec::new()), self.build.bool(true));
            let drop = self.build.stmt(StmtKind::Assume { attrs: vec![attr], expr: yes });
            self.legend.fates.insert(drop, Fate::Dropped);
            dropped.push(drop);
            arms.push(dropped);
        }
        let mut last = Vec::new();
        if phase == Phase::Loop {
            last.extend(self.note_dispatch(&task, args));
        }
        let post = self.task_post(call, same, args);
        self.legend.fates.insert(post, Fate::Dispatched(phase));
        last.push(post);
        let arms =
            arms.into_iter().map(|stmts| Arm { guard: None, body: Block { stmts } }).collect::<Vec<_>>();
        let choice = self.build.stmt(StmtKind::If { arms, otherwise: Some(Block { stmts: last }) });
        self.legend.choices.insert(choice);
        choice
    }

    fn helper_post(&mut self, callee: Symbol, args: &[ExprId]) -> StmtId {
        let attr = self.build.attr("async", Vec::new());
        let call = Call {
            is_async: false,
            free: false,
            attrs: vec![attr],
            outs: Vec::new(),
            callee: self.build.ident(callee),
            args: args.to_vec(),
        };
        self.build.stmt(StmtKind::Call(call))
    }

    /// A post like another; nothing receives a handle.
    fn task_post(&mut self, call: &Call, callee: Symbol, args: &[ExprId]) -> StmtId {
        let attr = self.build.attr("async", Vec::new());
        let callee = Ident { symbol: callee, span: call.callee.span };
        let new = Call { attrs: vec![attr], callee, args: args.to_vec(), ..call.clone() };
        self.build.stmt(StmtKind::Call(new))
    }

    /// The tasks `pro.p` and `anti.p`.
    fn comparison(&mut self, task: &Task) -> [Decl; 2] {
        let mut params = Vec::new();
        for &ty in &task.types {
            let name = self.build.fresh("argument");
            params.push(self.build.binding(name, ty));
        }
        let given: Vec<Symbol> = params.iter().map(|param| param.name.symbol).collect();
        let has_tag = self.tasks.len() > 1;
        let turn = self.build.var(self.turn);
        let number = self.build.int(task.number);
        let mut stmts = vec![self.build.assume(turn)];
        let mut pairs: Vec<(Symbol, ExprId)> = Vec::new();
        if has_tag {
            pairs.push((self.tag, number));
        }
        for (&slot, &param) in task.last.iter().zip(&given) {
            pairs.push((slot, self.build.var(param)));
        }
        pairs.push((self.turn, self.build.bool(false)));
        stmts.push(self.build.assign(pairs));
        let pro = self.task_procedure(task.pro, params.clone(), stmts);
        let turn = self.build.var(self.turn);
        let mut parts = vec![self.build.not(turn)];
        if has_tag {
            let (tag, number) = (self.build.var(self.tag), self.build.int(task.number));
            parts.push(self.build.eq(tag, number));
        }
        for ((&slot, &param), &shifted) in task.last.iter().zip(&given).zip(&task.shifted) {
            let mut before = self.build.var(slot);
            if let Some(amount) = self.amount.filter(|_| shifted) {
                let amount = self.build.var(amount);
                before = self.build.binary(BinaryOp::Add, before, amount);
            }
            let after = self.build.var(param);
            parts.push(self.build.eq(before, after));
        }
        let matches = self.build.and(&parts);
        let yes = self.build.bool(true);
        let stmts = vec![self.build.assume(matches), self.build.assign(vec![(self.turn, yes)])];
        [pro, self.task_procedure(task.anti, params, stmts)]
    }

    fn task_procedure(&mut self, name: Symbol, params: Vec<Binding>, stmts: Vec<StmtId>) -> Decl {
        let span = self.build.span;
        let procedure = ProcedureDecl {
            name: self.build.ident(name),
            type_params: Vec::new(),
            params,
            results: Vec::new(),
            specs: Vec::new(),
            body: Some(Body { locals: Vec::new(), block: Block { stmts }, span }),
        };
        Decl { attrs: Vec::new(), kind: DeclKind::Procedure(procedure), span }
    }

    /// A completed run with this at its end is a lasso.
    fn goal(&mut self) -> Goal {
        let mut parts = vec![self.build.var(self.repeated), self.build.var(self.turn)];
        for (&var, &(copy, guess)) in &self.copies.clone() {
            let name = self.checked.vars[var].name.symbol;
            let (left, right) = (self.build.var(name), self.build.var(guess));
            parts.push(self.build.eq(left, right));
            let marked = self.amount.filter(|_| shift::is_marked_global(self.checked, var));
            let again = match marked {
                Some(amount) => shift::shifted_by(&mut self.build, self.checked, var, copy, guess, amount),
                None => {
                    let (left, right) = (self.build.var(copy), self.build.var(guess));
                    self.build.eq(left, right)
                }
            };
            parts.push(again);
        }
        let mut unshared = BTreeSet::from([self.repeated]);
        if self.fair {
            let (count, guess) = (self.build.var(self.dispatches), self.build.var(self.n_dispatches));
            parts.push(self.build.eq(count, guess));
            unshared.insert(self.dispatches);
        }
        Goal { accept: self.build.and(&parts), unshared }
    }
}

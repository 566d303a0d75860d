//! The translation for DFW(K), after Emmi, Ozkan and Tasiran, with the corrections of the project's
//! reference; with another wait case also for DF(K), and in a variant for child first.
//!
//! Each shared variable `g` has a copy `g.r` per round r: what the running task sees there. `next.g.r`
//! is where the next posted task will start, and `end.g.r` a guess of where the current segment of the
//! running task will end. A post saves the copies, lets the child start at `next`, guesses new `next`
//! and `end`, calls the child, and assumes that it ended as guessed. A wait does the same to the task
//! itself. Arguments are evaluated before the swap. A preemption point moves on by any number of
//! rounds that the budget `used` allows.
//!
//! Three things keep this small. Only variables that a posted task, or anything it starts, may modify
//! are guessed, and only those it may access are swapped. With one round there are no case splits and
//! no round variables. A variable that nothing modifies, or that only the first task touches, keeps its
//! single copy.
//!
//! *Waits under DF.* The order of tasks within a round is fixed, so whether a task is complete follows from the
//! round it ended in. The waiting task passes in round k if the other ended before k, or in k and comes
//! earlier in the order. Those below a task come after it; a handle that was given to a task when it was
//! posted is that of an earlier one. So a handle holds `2 * round + 1` for a task below and `2 * round` for
//! an earlier one, and a wait assumes that this is at most `2 * k`. Nothing is shared or guessed for it.
//!
//! *Assertions.* In exit mode a failed assertion sets the shared variable `failed` in its round and
//! leaves the task; tasks that see it at their entry, at a preemption point, after a wait or after a
//! call leave as well. Nothing fails before the first failure and every task leaves after it, so one copy
//! suffices, for the round of the failure, which is guessed: a constant `failing.round`. In continue mode
//! `failed` is not shared by rounds and no task leaves.

mod body;
mod contract;
mod driver;
mod post;

use std::collections::{BTreeMap, BTreeSet};

use allways_base::{Span, Symbol};
use allways_boogie::check::{Checked, Ty, TyKind, VarId, VarKind};
use allways_boogie::dialect::AsyncOp;
use allways_boogie::tree::*;
use rustc_hash::FxHashMap;

use crate::build::{Builder, complete_modifies};
use crate::effects::{EffectTable, unassigned_waits};
use crate::{Assertions, Options, Origin, Scheduler, Sequentialized, Unsupported};

/// Translates a program. Under [`Scheduler::ChildFirst`] it has no waits, and under [`Scheduler::Df`] no
/// task has a handle as its result.
pub fn translate(
    checked: &Checked,
    entry: Symbol,
    options: &Options<'_>,
) -> Result<Sequentialized, Unsupported> {
    translate_for(checked, entry, options, None)
}

/// What a run has to end in, instead of a failed assertion.
#[derive(Clone, Debug)]
pub struct Goal {
    /// A condition on the globals at the end of the simulated run.
    pub accept: ExprId,
    /// Globals with one copy for all rounds. Their values must not depend on the order of tasks, as those of a flag that
    /// is only ever set.
    pub unshared: BTreeSet<Symbol>,
}

/// Like [`translate`]; with a goal the last assertion is that no run reaches it.
pub fn translate_for(
    checked: &Checked,
    entry: Symbol,
    options: &Options<'_>,
    goal: Option<&Goal>,
) -> Result<Sequentialized, Unsupported> {
    let mut translator = Translator::new(checked, entry, options, goal)?;
    translator.plan();
    translator.run()
}

/// A variable with a copy per round.
struct Shared {
    ty: TypeId,
    /// What the running task sees.
    copies: Vec<Symbol>,
    /// Where the next posted task starts.
    next: Vec<Symbol>,
    /// Where the current segment will end.
    end: Vec<Symbol>,
}

struct Translator<'a> {
    checked: &'a Checked,
    entry: Symbol,
    options: &'a Options<'a>,
    goal: Option<&'a Goal>,
    build: Builder,
    effects: EffectTable,
    n_rounds: usize,
    shared: Vec<Shared>,
    by_var: BTreeMap<VarId, usize>,
    /// `failed`, in exit mode a shared variable; with several rounds, its value in the one that fails.
    failed: Option<usize>,
    /// The round in which an assertion fails; the number of rounds if none does.
    failing: Option<Symbol>,
    failed_plain: Option<Symbol>,
    used: Option<Symbol>,
    /// Depth of atomic sections of the running task, in programs that have them.
    atomic: Option<Symbol>,
    /// The latest round of a child of the running task, -1 without children, in programs that wait for all.
    joined: Option<Symbol>,
    /// Has stopped for good: child first only.
    stopped: Option<Symbol>,
    /// Has waits at which a task starts a new segment: not depth first, where they only block.
    has_waits: bool,
    /// Procedures with waits on handles that may not be assigned.
    misusing: BTreeSet<Symbol>,
    tasks: BTreeSet<Symbol>,
    /// What a post of a task guesses and what it swaps.
    guessed: BTreeMap<Symbol, BTreeSet<usize>>,
    swapped: BTreeMap<Symbol, BTreeSet<usize>>,
    thread_locals: Vec<VarId>,
    origins: FxHashMap<StmtId, Origin>,
}

/// How a procedure takes part.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Takes the round it starts in.
    takes_round: bool,
    /// Returns the round it ends in.
    returns_round: bool,
    /// May leave because of a failure.
    may_leave: bool,
}

impl<'a> Translator<'a> {
    fn new(
        checked: &'a Checked,
        entry: Symbol,
        options: &'a Options<'a>,
        goal: Option<&'a Goal>,
    ) -> Result<Self, Unsupported> {
        let span = checked.program.procedure(entry).map(|(_, p)| p.name.span);
        let Some(span) = span else {
            return Err(Unsupported { what: "a program without entry point".to_owned(), span: None });
        };
        let n_rounds = match options.scheduler {
            Scheduler::Dfw { delays } | Scheduler::Df { delays } => delays as usize + 1,
            Scheduler::Rounds { rounds } | Scheduler::ChildFirst { rounds } => rounds.max(1) as usize,
        };
        const MOST_ROUNDS: usize = 1_000;
        if n_rounds > MOST_ROUNDS {
            return Err(Unsupported { what: format!("more than {MOST_ROUNDS} rounds"), span: None });
        }
        Ok(Translator {
            checked,
            entry,
            options,
            goal,
            build: Builder::new(&checked.program, span),
            effects: EffectTable::new(checked),
            n_rounds,
            shared: Vec::new(),
            by_var: BTreeMap::new(),
            failed: None,
            failing: None,
            failed_plain: None,
            used: None,
            atomic: None,
            joined: None,
            stopped: None,
            has_waits: false,
            misusing: BTreeSet::new(),
            tasks: BTreeSet::new(),
            guessed: BTreeMap::new(),
            swapped: BTreeMap::new(),
            thread_locals: Vec::new(),
            origins: FxHashMap::default(),
        })
    }

    /// Tasks are not preempted and run in one round each; there is one copy that they see.
    fn is_serial(&self) -> bool {
        matches!(self.options.scheduler, Scheduler::Rounds { .. })
    }

    /// How many copies of a shared variable the running task may see.
    fn n_copies(&self) -> usize {
        if self.is_serial() { 1 } else { self.n_rounds }
    }

    fn is_child_first(&self) -> bool {
        matches!(self.options.scheduler, Scheduler::ChildFirst { .. })
    }

    /// Waits do not change the order of tasks.
    fn is_depth_first(&self) -> bool {
        matches!(self.options.scheduler, Scheduler::Df { .. })
    }

    /// Decides which variables are shared and what posts guess.
    fn plan(&mut self) {
        let checked = self.checked;
        let entry = self.entry;
        self.tasks = self.effects.tasks(entry);
        let below: Vec<Symbol> = self.effects.below(entry).map(|(name, _)| name).collect();
        self.has_waits =
            !self.is_depth_first() && self.effects.below(entry).any(|(_, effects)| effects.waits);
        self.misusing = below.iter().copied().filter(|&name| self.has_unassigned_waits(name)).collect();
        let modified: BTreeSet<VarId> =
            self.effects.below(entry).flat_map(|(_, effects)| effects.modifies.iter().copied()).collect();
        // A variable that only the first task touches is sequential anyway.
        let is_posted = |task: &&Symbol| {
            **task != entry || self.effects.below(entry).any(|(_, effects)| effects.posts.contains(&entry))
        };
        let posted: BTreeSet<VarId> = self
            .tasks
            .iter()
            .filter(is_posted)
            .flat_map(|&task| self.effects.below(task))
            .flat_map(|(_, effects)| effects.accesses.iter().copied())
            .collect();
        for &var in &checked.globals {
            match checked.vars[var].kind {
                VarKind::ThreadLocal => self.thread_locals.push(var),
                _ if self.goal.is_some_and(|goal| goal.unshared.contains(&checked.vars[var].name.symbol)) => {
                }
                _ if modified.contains(&var) && posted.contains(&var) => {
                    let name = checked.program.text(checked.vars[var].name.symbol).to_owned();
                    let ty = self.build.type_of(checked, checked.vars[var].ty);
                    let keep = (self.n_copies() == 1).then_some(checked.vars[var].name.symbol);
                    let idx = self.add_shared(&name, ty, keep, self.n_rounds, self.n_copies());
                    self.by_var.insert(var, idx);
                }
                _ => {}
            }
        }
        if self.effects.below(entry).any(|(_, effects)| effects.asserts) || self.may_misuse_handles() {
            match self.options.assertions {
                Assertions::Exit => {
                    let ty = self.build.bool_type();
                    if self.n_copies() > 1 {
                        self.failing = Some(self.build.fresh("failing.round"));
                    }
                    let (n_rounds, n_copies) = if self.is_serial() { (self.n_rounds, 1) } else { (1, 1) };
                    self.failed = Some(self.add_shared("failed", ty, None, n_rounds, n_copies));
                }
                Assertions::Continue => self.failed_plain = Some(self.build.fresh("failed")),
            }
        }
        if self.n_rounds > 1 && !self.is_child_first() && !self.is_serial() {
            self.used = Some(self.build.fresh("used"));
        }
        if self.is_child_first() {
            self.stopped = Some(self.build.fresh("stopped"));
        }
        let (mut has_atomic, mut has_wait_all) = (false, false);
        for decl in &checked.program.decls {
            has_atomic |= matches!(decl.kind, DeclKind::Procedure(_))
                && checked.program.has_attr(&decl.attrs, "atomic");
        }
        for (id, _) in checked.program.stmts.iter_ids() {
            match checked.async_op(id) {
                Some(AsyncOp::AtomicBegin) => has_atomic = true,
                Some(AsyncOp::WaitAll) => has_wait_all = true,
                _ => {}
            }
        }
        if has_atomic {
            self.atomic = Some(self.build.fresh("atomic"));
        }
        if has_wait_all {
            self.joined = Some(self.build.fresh("joined"));
        }
        for &task in &self.tasks {
            let set = |vars: BTreeSet<VarId>| -> BTreeSet<usize> {
                vars.iter().filter_map(|var| self.by_var.get(var).copied()).collect()
            };
            let mut guessed = set(self
                .effects
                .below(task)
                .flat_map(|(_, effects)| effects.modifies.iter().copied())
                .collect());
            let mut swapped = set(self
                .effects
                .below(task)
                .flat_map(|(_, effects)| effects.accesses.iter().copied())
                .collect());
            if let Some(failed) = self.failed {
                swapped.insert(failed);
                if self.effects.below(task).any(|(name, effects)| effects.asserts || self.misuses(name)) {
                    guessed.insert(failed);
                }
            }
            self.guessed.insert(task, guessed);
            self.swapped.insert(task, swapped);
        }
        // A wait renews what any of the tasks that reach it may guess, so all of them guess that.
        let waits = |name: &Symbol| self.has_waits && self.effects.of(*name).waits;
        let waiting: Vec<Symbol> = below.into_iter().filter(waits).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for &procedure in &waiting {
                let renewed = self.renewed(procedure);
                for task in self.tasks.clone() {
                    if self.effects.called_from(task).any(|(name, _)| name == procedure) {
                        let guessed = self.guessed.entry(task).or_default();
                        let n_before = guessed.len();
                        guessed.extend(&renewed);
                        changed |= guessed.len() != n_before;
                    }
                }
            }
        }
        for (task, guessed) in &self.guessed {
            self.swapped.entry(*task).or_default().extend(guessed);
        }
    }

    /// What a wait in a procedure renews: the guesses of all tasks it may run in.
    fn renewed(&self, procedure: Symbol) -> BTreeSet<usize> {
        let tasks = self
            .tasks
            .iter()
            .filter(|&&task| self.effects.called_from(task).any(|(name, _)| name == procedure));
        tasks.flat_map(|task| self.guessed[task].iter().copied()).collect()
    }

    fn add_shared(
        &mut self,
        name: &str,
        ty: TypeId,
        keep: Option<Symbol>,
        n: usize,
        n_copies: usize,
    ) -> usize {
        let mut names = |prefix: &str, n: usize| -> Vec<Symbol> {
            (0..n)
                .map(|round| match n {
                    1 => self.build.fresh(&format!("{prefix}{name}")),
                    _ => self.build.fresh(&format!("{prefix}{name}.{round}")),
                })
                .collect()
        };
        let copies = match keep {
            Some(symbol) => vec![symbol],
            None => names("", n_copies),
        };
        let (next, end) = (names("next.", n), names("end.", n));
        self.shared.push(Shared { ty, copies, next, end });
        self.shared.len() - 1
    }

    /// Whether some wait may meet a handle that was never assigned.
    fn may_misuse_handles(&self) -> bool {
        self.effects.below(self.entry).any(|(name, _)| self.misuses(name))
    }

    fn misuses(&self, procedure: Symbol) -> bool {
        self.misusing.contains(&procedure)
    }

    fn has_unassigned_waits(&self, procedure: Symbol) -> bool {
        let mut bodies = self.checked.program.bodies_of(procedure);
        bodies.any(|found| !unassigned_waits(self.checked, found.decl_idx, found.body).is_empty())
    }

    fn shape(&self, procedure: Symbol) -> Shape {
        let mut shape = Shape { takes_round: false, returns_round: false, may_leave: false };
        let has_failures = self.failed.is_some();
        for (name, effects) in self.effects.called_from(procedure) {
            let touches = effects.accesses.iter().any(|var| self.by_var.contains_key(var));
            let leaves = has_failures
                && (effects.asserts
                    || self.misuses(name)
                    || effects.yields
                    || effects.waits
                    || self.tasks.contains(&name));
            shape.may_leave |= leaves || (self.stopped.is_some() && effects.yields);
            shape.takes_round |=
                touches || effects.yields || effects.waits || !effects.posts.is_empty() || leaves;
            shape.returns_round |= effects.yields || effects.waits;
        }
        if self.is_serial() {
            let mut called = self.effects.called_from(procedure);
            shape.takes_round = called.any(|(_, effects)| !effects.posts.is_empty());
            shape.returns_round = false;
        }
        if self.n_rounds == 1 {
            shape.takes_round = false;
            shape.returns_round = false;
        }
        shape
    }

    fn is_task_type(&self, ty: Ty) -> Option<Ty> {
        match self.checked.types.kind(ty) {
            TyKind::Con(name, args) if self.checked.program.text(*name) == "task" => {
                Some(args.first().copied().unwrap_or(Ty::INT))
            }
            _ => None,
        }
    }

    fn unsupported<T>(&self, what: impl Into<String>, span: Span) -> Result<T, Unsupported> {
        Err(Unsupported { what: what.into(), span: Some(span) })
    }

    fn run(mut self) -> Result<Sequentialized, Unsupported> {
        let checked = self.checked;
        let mut decls: Vec<Decl> = Vec::new();
        if self.is_serial() && self.has_waits {
            return Err(Unsupported { what: "waits of tasks that are not preempted".to_owned(), span: None });
        }
        let reached: BTreeSet<Symbol> = self.effects.below(self.entry).map(|(name, _)| name).collect();
        let mut shared_done = false;
        for (decl_idx, decl) in checked.program.decls.iter().enumerate() {
            self.build.span = decl.span;
            match &decl.kind {
                DeclKind::Type(_) | DeclKind::Const(_) | DeclKind::Function(_) => decls.push(decl.clone()),
                DeclKind::Axiom(_) if checked.program.has_attr(&decl.attrs, "init") => {}
                DeclKind::Axiom(_) => decls.push(decl.clone()),
                DeclKind::Var(binding) => {
                    let is_shared = checked.globals.iter().any(|var| {
                        checked.vars[*var].name.symbol == binding.name.symbol && self.by_var.contains_key(var)
                    });
                    if !is_shared {
                        let mut decl = decl.clone();
                        if let DeclKind::Var(binding) = &mut decl.kind {
                            // The initial state is described by the driver, havocs by themselves.
                            binding.where_clause = None;
                        }
                        decls.push(decl);
                    }
                }
                DeclKind::Procedure(procedure) if reached.contains(&procedure.name.symbol) => {
                    if !shared_done {
                        shared_done = true;
                        self.declare_shared(&mut decls);
                    }
                    let translated = self.procedure(decl_idx, decl, procedure)?;
                    decls.push(translated);
                }
                DeclKind::Implementation(implementation) if reached.contains(&implementation.name.symbol) => {
                    let translated = self.implementation(decl_idx, decl, implementation)?;
                    decls.push(translated);
                }
                DeclKind::Procedure(_) | DeclKind::Implementation(_) => {}
            }
        }
        let entry = self.driver(&mut decls)?;
        self.build.program.decls = decls;
        complete_modifies(&mut self.build.program);
        let finals = checked.globals.iter().map(|var| {
            let name = checked.vars[*var].name.symbol;
            let Some(&idx) = self.by_var.get(var) else { return (name, name) };
            let shared = &self.shared[idx];
            let names = if self.is_child_first() { &shared.copies } else { &shared.next };
            (name, names[self.n_rounds - 1])
        });
        let finals = finals.collect();
        let initials = self
            .by_var
            .iter()
            .map(|(&var, &idx)| (checked.vars[var].name.symbol, self.shared[idx].copies[0]));
        let initials = initials.collect();
        Ok(Sequentialized { program: self.build.program, entry, origins: self.origins, finals, initials })
    }

    fn declare_shared(&mut self, decls: &mut Vec<Decl>) {
        if let Some(failing) = self.failing {
            let int = self.build.int_type();
            decls.push(self.build.constant(failing, int));
        }
        let with_end = self.has_waits;
        let with_next = !self.is_child_first();
        for shared in &self.shared {
            for &name in &shared.copies {
                decls.push(self.build.global(name, shared.ty));
            }
            for &name in shared.next.iter().filter(|_| with_next) {
                decls.push(self.build.global(name, shared.ty));
            }
            for &name in shared.end.iter().filter(|_| with_end) {
                decls.push(self.build.global(name, shared.ty));
            }
        }
        let (int, bool_type) = (self.build.int_type(), self.build.bool_type());
        for name in [self.used, self.atomic, self.joined].into_iter().flatten() {
            decls.push(self.build.global(name, int));
        }
        for name in [self.failed_plain, self.stopped].into_iter().flatten() {
            decls.push(self.build.global(name, bool_type));
        }
    }
}

//! What a handler may cost, and when it is endless.
//!
//! The interpreter runs a slice of instructions and yields; here it is decided whether it goes on. A handler is *endless*
//! when it comes back to a state of its own with no effect in between: then it does the same for ever. That is found as
//! Brent finds cycles (1980): a copy of the state is kept, what follows is compared with it, and the copy is renewed at
//! growing distances. Comparing stops after a share of the instructions between two copies, so that a long handler which
//! ends costs little more.
//!
//! A function calls itself for ever when it is called again with the same arguments, in the same state of its machine, before the first call
//! has returned: what it does depends on nothing else, as the runs of a pushdown system depend on the top of its stack (Bouajjani, Esparza and
//! Maler 1997). So the copy is compared also with what stands higher on the stack.
//!
//! A handler that makes choices repeats a state and may end all the same. After many choices in a row the states that it can
//! reach without an effect are explored, up to a bound ([`Stepping::cannot_end`]): if no answers lead out of these, it is
//! endless, whatever the choices.
//!
//! Everything else that runs for long ends as unknown when its budget is used up.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use allways_base::Idx;
use allways_run::{HandlerLimit, InstanceId, StopReason, ViolationKind};

use super::{Kernel, Oracle, Outcome, Stepping};
use crate::configuration::{Fault, Frame, Local};
use crate::content::words;
use crate::interpret::{Context, Effect, Input, resume};
use crate::ir::ControlId;
use crate::record::{Actor, Recorder, Silent};
use crate::value::{Store, Value};

/// Instructions before the first copy.
const FIRST_SLICE: u64 = 1 << 10;
/// The longest slice: between two of them it is asked whether to stop.
const LONGEST_SLICE: u64 = 1 << 14;
/// Turns (jumps back, calls) compared with the first copy; later copies are compared with one in so many of the
/// instructions before them.
const FIRST_WATCH: u64 = 1 << 8;
const WATCHED_SHARE: u64 = 1 << 7;
/// Choices of one handler after which it is asked for the first time whether it can end.
const MANY_CHOICES: u32 = 1 << 6;
/// More choices of one handler end the run as unknown, where runs have no bound of their own.
const MAX_CHOICES: u32 = 100_000;
/// How often a handler that makes choices is asked whether to stop.
const CHOICES_BETWEEN_STOPS: u32 = 1 << 12;
/// More observations of one handler, between two other effects, do likewise.
const MAX_OBSERVED: u32 = 1 << 16;
/// States and instructions of the question whether a handler can end.
const MAX_STATES: usize = 1 << 10;
const MAX_INSTRUCTIONS: u64 = 1 << 17;

/// What a handler has cost so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Spent {
    instructions: u64,
    n_choices: u32,
    n_observed: u32,
}

/// A handler in progress.
pub(super) struct Effort {
    spent: Spent,
    /// Instructions left in this slice.
    pub fuel: u32,
    slice: u64,
    /// When the next copy is taken.
    next_copy: u64,
    copy: Option<Box<Copy>>,
    /// Turns left to compare.
    n_watched: u64,
    /// What was copied in all when it was last asked whether to stop, while turns are compared.
    copied: u64,
    /// The fewest frames at a turn since the copy.
    fewest: usize,
    /// Once it repeats: the outermost and first place of the lap so far, as depth and op. So the place that is shown does
    /// not depend on when the repetition was noticed.
    lap: Option<(usize, u32)>,
}

/// Where a handler stood.
struct Copy {
    control: ControlId,
    after: crate::configuration::After,
    frames: Vec<Frame>,
    registers: Vec<Value>,
}

/// Whether a handler goes on.
pub(super) enum Go {
    On,
    /// It never ends: the op to show, and why.
    Endless(u32, &'static str),
    Stop(StopReason),
}

impl Effort {
    pub fn new(spent: Spent) -> Self {
        let slice = FIRST_SLICE;
        Effort {
            spent,
            fuel: slice as u32,
            slice,
            next_copy: spent.instructions + FIRST_SLICE,
            copy: None,
            n_watched: 0,
            copied: 0,
            fewest: 0,
            lap: None,
        }
    }

    pub fn spent(&self) -> Spent {
        let used = self.slice.saturating_sub(u64::from(self.fuel));
        Spent { instructions: self.spent.instructions + used, ..self.spent }
    }

    /// A message was taken: what came before does not count.
    pub fn renew(&mut self) {
        *self = Effort::new(Spent::default());
    }

    /// The state of monitors changes with an observation, so that a repetition says nothing.
    pub fn observed(&mut self, kernel: &Kernel<'_>, actor: Actor) -> Go {
        self.forget_copy();
        self.spent.n_observed += 1;
        if self.spent.n_observed > MAX_OBSERVED {
            return Go::Stop(kernel.too_many_instructions(actor));
        }
        Go::On
    }

    pub fn forget_copy(&mut self) {
        if self.copy.take().is_some() {
            self.next_copy = 2 * self.spent.instructions;
            self.n_watched = 0;
            self.lap = None;
        }
    }

    /// The slice is used up.
    fn yielded(&mut self, kernel: &mut Kernel<'_>, actor: Actor) -> Go {
        self.spent.instructions += self.slice.max(1);
        if let Some(copy) = &self.copy {
            let local = kernel.local_of(actor);
            self.fewest = self.fewest.min(local.frames.len());
            if self.fewest == copy.frames.len() && copy.is_called_again(&kernel.store, local) {
                return Go::Endless(local.frames.last().map_or(0, |frame| frame.pc), CALLS_ITSELF);
            }
            let is_there_again = copy.is_of(&kernel.store, local);
            if is_there_again || self.lap.is_some() {
                let here = (local.frames.len(), local.frames.last().map_or(0, |frame| frame.pc));
                match self.lap {
                    Some(first) if is_there_again => return Go::Endless(first.min(here).1, REPEATS),
                    lap => self.lap = Some(lap.unwrap_or(here).min(here)),
                }
                return Go::On;
            }
            self.n_watched -= 1;
            // Turns that copy large values cost more than themselves.
            let copied = kernel.store.copied_in_all() - self.copied;
            if self.n_watched > 0 && !self.n_watched.is_multiple_of(LONGEST_SLICE) && copied < LONGEST_SLICE {
                return Go::On;
            }
            self.copied += copied;
        }
        if let Some(reason) = kernel.stop.reason() {
            return Go::Stop(reason);
        }
        let instructions = self.spent.instructions;
        if instructions >= u64::from(kernel.limits.instructions) {
            return Go::Stop(kernel.too_many_instructions(actor));
        }
        if self.n_watched > 0 {
            return Go::On;
        }
        self.slice = if instructions >= self.next_copy && self.copy.is_none() {
            let mut copy = Box::new(Copy::of(kernel.local_of(actor)));
            kernel.store.freeze_all(&mut copy.registers);
            self.copy = Some(copy);
            self.copied = kernel.store.copied_in_all();
            self.fewest = kernel.local_of(actor).frames.len();
            self.n_watched = (instructions / WATCHED_SHARE).max(FIRST_WATCH);
            0
        } else {
            self.forget_copy();
            (self.next_copy - instructions).min(LONGEST_SLICE)
        };
        self.fuel = self.slice as u32;
        Go::On
    }
}

impl Copy {
    fn of(local: &Local) -> Self {
        Copy {
            control: local.control,
            after: local.after,
            frames: local.frames.clone(),
            registers: local.registers.clone(),
        }
    }

    fn is_of(&self, store: &Store, local: &Local) -> bool {
        // What is called last differs first.
        self.frames.last() == local.frames.last()
            && self.control == local.control
            && self.registers.len() == local.registers.len()
            && std::iter::zip(&self.registers, &local.registers).rev().all(|(a, b)| a == b || b.is_draft())
            && self.after == local.after
            && self.frames == local.frames
            && std::iter::zip(&self.registers, &local.registers).all(|(&a, &b)| store.is_same(b, a))
    }

    /// Whether the top frame of the copy stands on top of itself, if at no turn since there were fewer frames. It has not returned:
    /// what is below would have gone on, and stands at the same place again only after a turn of its own.
    fn is_called_again(&self, store: &Store, local: &Local) -> bool {
        let n_frames = self.frames.len();
        let (Some(then), Some(now)) = (self.frames.last(), local.frames.last()) else { return false };
        if n_frames < 2 || local.frames.len() <= n_frames || (now.fun, now.pc) != (then.fun, then.pc) {
            return false;
        }
        let (n_fields, then_base, now_base) = (local.frames[0].base, then.base, now.base);
        let parts = [
            (&self.registers[then_base as usize..], &local.registers[now_base as usize..]),
            (&self.registers[..n_fields as usize], &local.registers[..n_fields as usize]),
        ];
        let is_all = |is_one: &dyn Fn(Value, Value) -> bool| {
            let is_part = |(a, b): (&[Value], &[Value])| {
                a.len() == b.len() && std::iter::zip(a, b).all(|(&a, &b)| is_one(a, b))
            };
            parts.into_iter().all(is_part)
        };
        // What is cheap to compare comes first.
        (self.control, self.after) == (local.control, local.after)
            && is_all(&|a, b| a == b || b.is_draft())
            && self.frames[..n_frames - 1] == local.frames[..n_frames - 1]
            && is_all(&|a, b| store.is_same(b, a))
    }
}

impl Kernel<'_> {
    #[cold]
    pub(super) fn long_handler(&self, actor: Actor, limit: HandlerLimit) -> StopReason {
        self.exe.long_handler(self.local_of(actor), limit)
    }

    fn too_many_instructions(&self, actor: Actor) -> StopReason {
        self.long_handler(actor, HandlerLimit::Instructions(self.limits.instructions))
    }

    fn local_of(&self, actor: Actor) -> &Local {
        match actor {
            Actor::Machine(machine) => &self.conf.locals[machine.index()],
            Actor::Monitor(monitor) => &self.conf.monitors[monitor as usize],
        }
    }

    /// That a handler never ends, with a place in it.
    #[cold]
    pub(super) fn endless(&mut self, op: u32, text: &str) -> Fault {
        let span = self.exe.spans.get(op as usize).copied();
        Fault { kind: ViolationKind::EndlessHandler, text: self.store.string(text), span }
    }
}

const REPEATS: &str = "the handler never ends: its variables and position repeat, and it sends, announces and creates nothing in between";
const CALLS_ITSELF: &str =
    "the handler never ends: a function calls itself with the same arguments, and nothing else has changed";
const NO_ANSWER_ENDS: &str = "the handler never ends: for every outcome of its choices it runs on without sending, announcing or creating anything";

impl<O: Oracle, R: Recorder> Stepping<'_, '_, O, R> {
    /// The slice of a handler is used up. Whether it goes on.
    pub(super) fn yielded(&mut self, effort: &mut Effort, actor: Actor) -> Go {
        if self.kernel.collect() {
            effort.forget_copy();
        }
        effort.yielded(self.kernel, actor)
    }

    /// A handler makes a choice. Whether it goes on.
    pub(super) fn chooses(&mut self, machine: InstanceId, effort: &mut Effort) -> Go {
        effort.forget_copy();
        effort.spent.n_choices += 1;
        let n_choices = effort.spent.n_choices;
        if n_choices < MANY_CHOICES {
            return Go::On;
        }
        if n_choices > MAX_CHOICES && self.kernel.max_choices == u64::MAX {
            return Go::Stop(StopReason::ChoiceBound(MAX_CHOICES.into()));
        }
        let is_time_to_prove = n_choices.is_power_of_two();
        if !is_time_to_prove && !n_choices.is_multiple_of(CHOICES_BETWEEN_STOPS) {
            return Go::On;
        }
        match self.kernel.stop.reason() {
            Some(reason) => Go::Stop(reason),
            None if is_time_to_prove && self.cannot_end(machine) => {
                let frame = self.kernel.conf.locals[machine.index()].frames.last();
                Go::Endless(frame.map_or(0, |frame| frame.pc), NO_ANSWER_ENDS)
            }
            None => Go::On,
        }
    }

    /// Whether a machine that stands at a choice comes from choice to choice without end, whatever the answers. False when
    /// that is not known.
    #[cold]
    fn cannot_end(&mut self, machine: InstanceId) -> bool {
        let actor = Actor::Machine(machine);
        let Kernel { exe, limits, store, conf, .. } = &mut *self.kernel;
        // What is tried must not change what stands.
        let here = &mut conf.locals[machine.index()];
        store.freeze_all(&mut here.registers);
        let mut local = here.clone();
        let mut instructions = 0;
        let mut key = Vec::new();
        let mut known: FxHashSet<Box<[u64]>> = FxHashSet::default();
        let mut open: VecDeque<(Local, u32)> = VecDeque::new();
        // Effects that end a slice of the handler, as far as they matter here.
        let mut run = |local: &mut Local, mut input: Input| loop {
            let mut fuel = FIRST_SLICE as u32;
            let context = Context {
                exe,
                store,
                roster: &conf.roster,
                limits,
                recorder: &mut Silent,
                actor,
                fuel: &mut fuel,
            };
            match resume(context, local, input) {
                Effect::Choose { n_answers, .. } => {
                    store.freeze_all(&mut local.registers);
                    return Some(n_answers);
                }
                Effect::Yield if instructions < MAX_INSTRUCTIONS => {
                    instructions += FIRST_SLICE;
                    input = Input::Continue;
                }
                _ => return None,
            }
        };
        // It asks again.
        let Some(n_answers) = run(&mut local, Input::Continue) else { return false };
        words(&local, &mut key);
        known.insert(key.as_slice().into());
        open.push_back((local, n_answers));
        while let Some((local, n_answers)) = open.pop_front() {
            for answer in 0..n_answers {
                let mut next = local.clone();
                let Some(n_answers) = run(&mut next, Input::Chosen(answer)) else { return false };
                key.clear();
                words(&next, &mut key);
                if known.contains(key.as_slice()) {
                    continue;
                }
                if known.len() == MAX_STATES {
                    return false;
                }
                known.insert(key.as_slice().into());
                open.push_back((next, n_answers));
            }
        }
        true
    }

    /// The run ends here, without an answer.
    pub(super) fn stop(&mut self, reason: StopReason) {
        self.kernel.outcome = Outcome::Unknown(reason);
    }
}

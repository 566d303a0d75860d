//! From "some run of n steps violates a property" to that run: in a fixed order, by one thread, exact.
//!
//! The search is breadth first again, machines in order of their paths and outcomes in order of their answers, so the
//! counterexample is a shortest one and the same whatever the threads did before. It merges what the search merged, so it needs no
//! more memory, except that steps which the search postponed may lead to a shorter run. So after such a search, a run is first searched for
//! with the same reductions, and then a shortest one without them, unless that takes many more configurations.
//!
//! It keeps exact keys, and the predecessor of each configuration, so it may still run out of memory. A violation that was seen must not be lost
//! then: from the last complete layer, `fixed_memory` continues depth first, in memory that is fixed beforehand. Several processes search for it
//! together then, each with its share (`owners`).
//!
//! The path found consists of representatives: what is never read is left out of them, and
//! machines may have been permuted. So it is *walked*: the kernel makes whole steps from the beginning, and at each the
//! machine and the answers are those that lead to the next configuration of the path, renamed as the ones before were. Numbers are compared up to renumbering.
//! The result is a list of choices, which the kernel replays.

mod fixed_memory;
pub(crate) mod owners;

use std::sync::Arc;

use allways_base::Idx;
use allways_machine::{Executable, Kernel, Outcome, Silent};
use allways_p::hir::Temperature;
use allways_run::{Choice, Counterexample, InstanceId, Limits, Progress, StopReason};

use super::context::{Context, Tally};
use super::distribute::record::Record;
use super::expand::{CRASH, Expander, Move, Sink, Standing, Successor};
use super::local::states::{
    Act, Cut, Following, Given, LocalOutcome, LocalStateId, LocalStates, Owner, Walked,
};
use super::reduce::counters::{Counters, Source};
use super::reduce::symmetry::Symmetry;
use super::store::table::Table;
use super::store::tree::ExactKeys;
use super::successors::{Collect, Expansion, Layer, Purpose, Successors, apply};
use crate::confirm::{Claim, confirm, confirm_invariant};
use crate::error::InternalError;
use crate::search::local::entries::Slot;

/// A step by name: what moves, and the answers to its data choices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StepName {
    pub choice: Choice,
    pub answers: Vec<u32>,
}

impl StepName {
    /// The first step, which starts monitors and main machine.
    pub fn first(answers: Vec<u32>) -> Self {
        StepName { choice: Choice::Machine(InstanceId::MAIN), answers }
    }
}

/// The answer of the search for a path.
pub(crate) enum Found {
    Path {
        steps: Vec<StepName>,
        tally: Tally,
        depth: u64,
        /// Of the paths that were asked for.
        is_shortest: bool,
        /// What several processes have noted, if they have searched together.
        record: Option<Box<Record>>,
    },
    Stopped(StopReason),
    /// There are more configurations than were allowed.
    TooMany,
    /// It should have been there.
    Nothing,
}

/// What the search for a path may do.
#[derive(Clone, Copy)]
pub(crate) struct Allowance {
    /// The path has no more steps.
    pub depth: u64,
    /// Where a path is known already: configurations that a shorter one may cost.
    pub most: Option<u64>,
    /// Transitions after which the limit of time counts. That there is a path is known, so it may take longer than the search
    /// was allowed to, but not for ever.
    pub transitions: u64,
}

impl Allowance {
    /// Why to stop now, after so many transitions.
    fn stop_reason(self, cx: Context<'_>, n_transitions: u64) -> Option<StopReason> {
        let may_go_on = self.most.is_none() && n_transitions < self.transitions;
        match cx.stop_reason() {
            Some(StopReason::Time(_)) if may_go_on => cx.cancel.last_reason(),
            reason => reason,
        }
    }
}

/// Transitions after which clock and memory are checked: a single configuration may have very many.
const LOOK_AFTER: u64 = 1 << 16;

/// Where a configuration was found.
#[derive(Clone, Copy)]
struct Origin {
    parent: u32,
    by: Move,
}

/// A layer, all of it, and how to come there.
struct Reached {
    beginnings: Vec<(Vec<u32>, Vec<LocalStateId>)>,
    origins: Vec<Origin>,
    layer: Layer,
    /// The number of the first in the layer.
    first: u32,
    /// Steps to it.
    depth: u64,
}

impl Reached {
    /// The steps to a configuration of the layer, and some more, of which the last one `breaks` a property.
    fn way(
        &self,
        cx: Context<'_>,
        at: usize,
        more: &[Move],
        breaks: bool,
    ) -> Result<Vec<StepName>, InternalError> {
        way(cx, &self.beginnings, &self.origins, self.first + at as u32, more, breaks)
    }

    fn n_bytes(&self) -> usize {
        self.origins.capacity() * size_of::<Origin>() + self.layer.n_bytes()
    }
}

/// Reports the progress of the search for a path.
fn tell(cx: Context<'_>, tally: &Tally, depth: u64) {
    cx.observer.progress(&Progress {
        phase: Some("counterexample"),
        n_steps: tally.n_transitions,
        n_configurations: Some(tally.n_configurations),
        depth,
        ..Progress::default()
    });
}

/// Finds a shortest path to a violation among those that the search explores; that there is one is known.
pub(crate) fn shortest(cx: Context<'_>, allowance: Allowance) -> Result<Found, InternalError> {
    let peers = cx.options.peers.as_ref().map(|peers| &*peers.0).filter(|_| allowance.most.is_none());
    if let Some(peers) = peers.filter(|_| cx.options.shares_counterexample) {
        return owners::lead(cx, peers, allowance);
    }
    let Allowance { depth, most, .. } = allowance;
    let mut tally = Tally { n_configurations: 1, n_machines: 1, ..Tally::default() };
    let beginning = super::lock(cx.locals).begin();
    tally.n_transitions += beginning.n_transitions;
    if let Some(answers) = beginning.violations.into_iter().next() {
        let steps = vec![StepName::first(answers)];
        return Ok(Found::Path { steps, tally, depth: 1, is_shortest: true, record: None });
    }
    let no_memory = || StopReason::Memory { bytes: cx.options.limits.memory_bytes.unwrap_or(0) };
    let (Some(mut keys), Some(mut table)) = (ExactKeys::new(), Table::new(12)) else {
        return Ok(Found::Stopped(no_memory()));
    };
    let mut successors = Successors::new(cx, Purpose::Counterexample);
    let mut reached = Reached {
        beginnings: beginning.vectors,
        origins: Vec::new(),
        layer: Layer::default(),
        first: 0,
        depth: 1,
    };
    for (number, (_, vector)) in reached.beginnings.iter().enumerate() {
        reached.origins.push(Origin { parent: u32::MAX, by: Move { own: number as u32, ..Move::default() } });
        reached.layer.push(vector);
        let Some(key) = keys.key(vector) else { return Ok(Found::Stopped(no_memory())) };
        let _ = table.insert(key);
    }
    tally.n_configurations += reached.origins.len() as u64;
    let mut broken: Option<(usize, Move)> = None;
    let mut look_at = LOOK_AFTER;
    let stopped = 'layers: loop {
        if reached.layer.len() == 0 || reached.depth > depth {
            return Ok(Found::Nothing);
        }
        let mut next = Layer::default();
        for at in 0..reached.layer.len() {
            if at % 256 == 0 || tally.n_transitions >= look_at {
                look_at = tally.n_transitions + LOOK_AFTER;
                let others = super::lock(cx.locals).n_bytes() + successors.expander.memo.n_bytes();
                let bytes = table.n_bytes() + keys.n_bytes() + reached.n_bytes() + next.n_bytes() + others;
                let reason = allowance.stop_reason(cx, tally.n_transitions);
                if let Some(reason) = reason.or_else(|| cx.is_over(bytes as u64)) {
                    break 'layers reason;
                }
                if most.is_some_and(|most| tally.n_configurations > most) {
                    return Ok(Found::TooMany);
                }
                tell(cx, &tally, reached.depth);
            }
            let vector = reached.layer.get(at).to_vec();
            let mut sink = Collect::default();
            let Expansion { standing, chosen } = successors.expand(&vector, &mut sink);
            tally.n_persistent += u64::from(chosen.is_some());
            tally.n_put_off += chosen.map_or(0, |chosen| chosen.n_put_off);
            tally.n_transitions += sink.moves.len() as u64 + u64::from(sink.broken.is_some());
            tally.n_machines = tally.n_machines.max(standing.n_machines);
            if standing.n_enabled == 0 {
                tally.n_ends += 1;
                if is_bad_end(&super::lock(cx.locals), &vector, standing) {
                    let steps = reached.way(cx, at, &[], false)?;
                    return Ok(Found::Path {
                        steps,
                        tally,
                        depth: reached.depth,
                        is_shortest: true,
                        record: None,
                    });
                }
            }
            if broken.is_none() && reached.depth < depth {
                broken = sink.broken.map(|by| (at, by));
            }
            if broken.is_some() || reached.depth == depth {
                // Only an end in this layer can be shorter; there is no next one.
                continue;
            }
            for (i, by) in sink.moves.iter().enumerate() {
                // One step may have millions of outcomes.
                if i as u64 % LOOK_AFTER == LOOK_AFTER - 1
                    && let Some(reason) = allowance.stop_reason(cx, tally.n_transitions)
                {
                    break 'layers reason;
                }
                let successor = successors.counted(sink.vectors.get(i), &mut tally);
                if reached.origins.len() > table.room() && table.grow().is_none() {
                    break 'layers no_memory();
                }
                let Some(key) = keys.key(successor) else { break 'layers no_memory() };
                let Some(is_new) = table.insert_growing(key) else { break 'layers no_memory() };
                if is_new {
                    reached.origins.push(Origin { parent: reached.first + at as u32, by: *by });
                    next.push(successor);
                    tally.n_configurations += 1;
                }
            }
        }
        if let Some((at, by)) = broken {
            let steps = reached.way(cx, at, &[by], true)?;
            return Ok(Found::Path {
                steps,
                tally,
                depth: reached.depth + 1,
                is_shortest: true,
                record: None,
            });
        }
        reached.first += reached.layer.len() as u32;
        reached.layer = next;
        reached.depth += 1;
    };
    if let Some((at, by)) = broken {
        let steps = reached.way(cx, at, &[by], true)?;
        return Ok(Found::Path { steps, tally, depth: reached.depth + 1, is_shortest: false, record: None });
    }
    if most.is_some() || !matches!(stopped, StopReason::Memory { .. }) {
        return Ok(Found::Stopped(stopped));
    }
    drop((table, keys, successors));
    if let Some(peers) = peers {
        drop(reached);
        return owners::lead(cx, peers, allowance);
    }
    reached.origins.truncate(reached.first as usize + reached.layer.len());
    reached.origins.shrink_to_fit();
    fixed_memory::search(cx, &reached, allowance, tally)
}

/// The configuration is terminal, and that violates a property.
pub(crate) fn is_bad_end(locals: &LocalStates, vector: &[LocalStateId], standing: Standing) -> bool {
    standing.is_blocked
        || vector[..locals.n_monitors()].iter().any(|&local| locals.temperature(local) == Temperature::Hot)
}

/// The steps to a configuration, and some more.
fn way(
    cx: Context<'_>,
    beginnings: &[(Vec<u32>, Vec<LocalStateId>)],
    origins: &[Origin],
    number: u32,
    more: &[Move],
    breaks: bool,
) -> Result<Vec<StepName>, InternalError> {
    let mut moves: Vec<Move> = more.iter().rev().copied().collect();
    let mut at = origins[number as usize];
    while at.parent != u32::MAX {
        moves.push(at.by);
        at = origins[at.parent as usize];
    }
    moves.reverse();
    let (answers, start) = &beginnings[at.by.own as usize];
    steps_of(cx, answers, start, &moves, breaks)
}

/// The steps of moves from a configuration after the first step, to which these answers lead. The last move `breaks` a
/// property, or no machine can step after it.
pub(crate) fn steps_of(
    cx: Context<'_>,
    answers: &[u32],
    first: &[LocalStateId],
    moves: &[Move],
    breaks: bool,
) -> Result<Vec<StepName>, InternalError> {
    if !super::lock(cx.locals).exe.network.is_default() {
        // No machine changes places there, and answers mean the same.
        let mut steps = vec![StepName::first(answers.to_vec())];
        steps.extend(names(cx, first, moves));
        return Ok(steps);
    }
    Ok(walk_to(cx, first, moves, breaks)?.0)
}

/// Makes the moves of a path from its first configuration on, on the kernel. The last move `breaks` a property, or
/// it is terminal after it.
pub(crate) fn walk(
    cx: Context<'_>,
    first: &[LocalStateId],
    moves: &[Move],
    breaks: bool,
) -> Result<Vec<StepName>, InternalError> {
    match walk_to(cx, first, moves, breaks)? {
        (steps, Outcome::Violated(_)) => Ok(steps),
        (_, other) => Err(lost(Some(&other))),
    }
}

/// The same, and how the run stands then.
fn walk_to(
    cx: Context<'_>,
    first: &[LocalStateId],
    moves: &[Move],
    breaks: bool,
) -> Result<(Vec<StepName>, Outcome), InternalError> {
    let (mut walker, begun) = Walker::begin(cx, first)?;
    let mut steps = vec![begun];
    for (number, &by) in moves.iter().enumerate() {
        let is_last = breaks && number + 1 == moves.len();
        steps.push(walker.step(by, is_last)?);
    }
    Ok((steps, walker.here.outcome))
}

fn lost(outcome: Option<&Outcome>) -> InternalError {
    InternalError::differs("a step of the way", outcome.unwrap_or(&Outcome::Running))
}

/// Goes on the kernel where moves go between configurations that stand for others.
pub(crate) struct Walker<'a> {
    _following: Following<'a>,
    cx: Context<'a>,
    expander: Expander<'a>,
    symmetry: Option<Symmetry<'a>>,
    counters: Option<Counters>,
    here: Walked,
    /// The configuration of the path, and which machine of the run each of its machines is.
    vector: Vec<LocalStateId>,
    names: Naming,
}

impl<'a> Walker<'a> {
    /// At a configuration after the first step, which is given.
    pub fn begin(cx: Context<'a>, first: &[LocalStateId]) -> Result<(Self, StepName), InternalError> {
        let following = Following::new(cx.locals);
        let start = super::lock(cx.locals).walk();
        let begun = super::lock(cx.locals).walk_on(&start, InstanceId::MAIN, |_, _, vector| vector == first);
        let here = begun.ok_or_else(|| lost(None))?;
        let name = StepName::first(here.answers.clone());
        let walker = Walker {
            _following: following,
            cx,
            expander: cx.expander(),
            symmetry: cx.symmetry(),
            counters: if cx.renumbers { Counters::new(&super::lock(cx.locals)) } else { None },
            here,
            vector: first.to_vec(),
            names: Naming::default(),
        };
        Ok((walker, name))
    }

    /// Makes a move, which `breaks` a property or leads to the next configuration.
    pub fn step(&mut self, by: Move, breaks: bool) -> Result<StepName, InternalError> {
        let cx = self.cx;
        let machine = match super::lock(cx.locals).owner(self.names.of(by.slot)) {
            Owner::Machine(machine) => machine,
            Owner::Monitor(_) | Owner::Network(_) => return Err(lost(None)),
        };
        let next = if breaks {
            let is_broken = |_: &mut LocalStates<'a>, outcome: &Outcome, _: &[LocalStateId]| {
                matches!(outcome, Outcome::Violated(_))
            };
            super::lock(cx.locals).walk_on(&self.here.walk, machine, is_broken)
        } else {
            let mut sink = Follow { by, next: None };
            self.expander.expand(&self.vector, &mut sink);
            let successor = sink.next.ok_or_else(|| lost(None))?;
            let expected = self.expected(&successor, by.slot, machine);
            let next = match &mut self.counters {
                None => {
                    let is_there = |_: &mut LocalStates<'a>, _: &Outcome, vector: &[LocalStateId]| {
                        expected.iter().all(|&(slot, local)| vector.get(slot.index()) == Some(&local))
                    };
                    super::lock(cx.locals).walk_on(&self.here.walk, machine, is_there)
                }
                // The run has its own numbers. Those of machines that were left out do not count.
                Some(counters) => {
                    let n_slots = expected.iter().map(|&(slot, _)| slot.index() + 1).max().unwrap_or(0);
                    let mut there = vec![LocalStateId::ABSENT; n_slots];
                    for &(slot, local) in &expected {
                        there[slot.index()] = local;
                    }
                    let mut locals = super::lock(cx.locals);
                    let there = counters.canonical(&there, &mut Source::Held(&mut locals)).to_vec();
                    let mut counted = vec![LocalStateId::ABSENT; n_slots];
                    let is_there = |locals: &mut LocalStates<'a>, _: &Outcome, vector: &[LocalStateId]| {
                        for &(slot, _) in &expected {
                            counted[slot.index()] =
                                vector.get(slot.index()).copied().unwrap_or(LocalStateId::ABSENT);
                        }
                        counters.canonical(&counted, &mut Source::Held(locals)) == there
                    };
                    locals.walk_on(&self.here.walk, machine, is_there)
                }
            };
            let successor = match &mut self.counters {
                None => successor,
                Some(counters) => counters.canonical(&successor, &mut Source::Shared(cx.locals)).to_vec(),
            };
            match &mut self.symmetry {
                Some(symmetry) => {
                    self.vector = symmetry.canonical(&successor).to_vec();
                    self.names = self.names.after(&successor, symmetry.permutation());
                }
                None => self.vector = successor,
            }
            next
        };
        self.here = next.ok_or_else(|| lost(None))?;
        Ok(StepName { choice: Choice::Machine(machine), answers: self.here.answers.clone() })
    }

    /// The machines and monitors of the successor of the configuration of the path, as they are in the run: with other names, and with the
    /// machines that they made which are garbage now. One that has halted may be garbage in the run.
    fn expected(
        &mut self,
        successor: &[LocalStateId],
        mover: Slot,
        machine: InstanceId,
    ) -> Vec<(Slot, LocalStateId)> {
        let locals = &mut super::lock(self.cx.locals);
        locals.stand_at(&self.here.walk);
        let before = |slot: Slot| self.vector.get(slot.index()).copied().unwrap_or(LocalStateId::ABSENT);
        let present: Vec<(Slot, LocalStateId)> = (0..)
            .map(Slot::new)
            .zip(successor.iter().copied())
            .filter(|&(_, local)| !local.is_absent())
            .collect();
        let n_monitors = locals.n_monitors();
        for &(slot, _) in present
            .iter()
            .filter(|&&(slot, _)| slot.index() >= n_monitors && before(slot) == LocalStateId::ABSENT)
        {
            let n_made = locals.n_children(machine);
            let made = locals.child_slot(self.names.of(mover), n_made);
            self.names.set(slot, made);
        }
        let to: Vec<Slot> = (0..locals.n_slots()).map(|slot| self.names.of(Slot::new(slot))).collect();
        let mut expected = Vec::new();
        for (slot, local) in present {
            if local == before(slot) && locals.is_halted(local) {
                continue;
            }
            let there = to[slot.index()];
            let n_children = match (locals.owner(there), before(slot)) {
                (Owner::Machine(machine), before) if !before.is_absent() => {
                    let more = locals.vitality(local).n_children;
                    let made = more.saturating_sub(locals.vitality(before).n_children);
                    Some(locals.n_children(machine) + made)
                }
                _ => None,
            };
            expected.push((there, locals.rename(local, there, &to, n_children)));
        }
        expected
    }
}

/// By slot of the way: the slot of the run, if the machine exists; else `Slot::NONE`.
#[derive(Default)]
struct Naming(Vec<Slot>);

impl Naming {
    fn of(&self, slot: Slot) -> Slot {
        self.0.get(slot.index()).copied().filter(|&name| name != Slot::NONE).unwrap_or(slot)
    }

    fn set(&mut self, slot: Slot, name: Slot) {
        if self.0.len() <= slot.index() {
            self.0.resize(slot.index() + 1, Slot::NONE);
        }
        self.0[slot.index()] = name;
    }

    /// When the machines of a configuration have changed places as `to` says, or left.
    fn after(&self, vector: &[LocalStateId], to: &[Slot]) -> Naming {
        let mut names = vec![Slot::NONE; to.len().max(self.0.len())];
        for slot in
            vector.iter().enumerate().filter(|(_, local)| !local.is_absent()).map(|(slot, _)| Slot::new(slot))
        {
            let there = to.get(slot.index()).copied().unwrap_or(slot);
            if there == Slot::NONE {
                continue;
            }
            if names.len() <= there.index() {
                names.resize(there.index() + 1, Slot::NONE);
            }
            names[there.index()] = self.of(slot);
        }
        Naming(names)
    }
}

/// The names of moves that follow each other from a vector.
pub(crate) fn names(cx: Context<'_>, start: &[LocalStateId], moves: &[Move]) -> Vec<StepName> {
    let _following = Following::new(cx.locals);
    let mut vector = start.to_vec();
    let mut steps = Vec::new();
    let mut expander = cx.expander();
    for &by in moves {
        steps.push(name(&mut super::lock(cx.locals), &vector, by));
        let mut sink = Follow { by, next: None };
        expander.expand(&vector, &mut sink);
        if let Some(next) = sink.next {
            vector = next;
        }
    }
    steps
}

/// What a move of a vector is called.
pub(crate) fn name(locals: &mut LocalStates, vector: &[LocalStateId], by: Move) -> StepName {
    let choice = choice(locals, vector, by);
    let answers = moves_answers(locals, vector, by).iter().map(|answer| answer.answer).collect();
    StepName { choice, answers }
}

/// What moves.
pub(crate) fn choice(locals: &mut LocalStates, vector: &[LocalStateId], by: Move) -> Choice {
    match (locals.owner(by.slot), &*locals.known_act(vector[by.slot.index()])) {
        (Owner::Machine(machine), _) if by.delivered == CRASH => Choice::Crash(machine),
        (Owner::Machine(machine), _) => Choice::Machine(machine),
        (Owner::Network(_), Act::Network(arrivals)) => arrivals[by.own as usize].choice,
        // These never move.
        (Owner::Network(_) | Owner::Monitor(_), _) => Choice::Machine(InstanceId::MAIN),
    }
}

/// The data choices of a move: what becomes of a message comes first, what its receiver chooses last.
pub(crate) fn moves_answers(
    locals: &mut LocalStates,
    vector: &[LocalStateId],
    by: Move,
) -> Vec<super::local::states::Answer> {
    let mut answers = Vec::new();
    if by.delivered == CRASH {
        return answers;
    }
    match &*locals.known_act(vector[by.slot.index()]) {
        Act::Step { deliver, outcomes, .. } => {
            let own = outcomes.get(by.own as usize).into_iter().flat_map(LocalOutcome::answers);
            match *deliver {
                None => answers.extend(own),
                Some((target, message)) => {
                    let has_fate = locals.has_fate(target, message);
                    let receiver = match vector[target.index()] {
                        LocalStateId::ABSENT => locals.empty_network(target),
                        local => local,
                    };
                    let reactions = locals.known_delivery(receiver, message);
                    // None, where a limit ended the handler: replay finds out.
                    let given = reactions.get(by.delivered as usize).map_or(&[][..], |it| &it.answers);
                    let (fate, rest) = given.split_at(usize::from(has_fate).min(given.len()));
                    answers.extend_from_slice(fate);
                    answers.extend(own);
                    answers.extend_from_slice(rest);
                }
            }
        }
        Act::Network(arrivals) => {
            let (target, message) = arrivals[by.own as usize].delivery;
            let reactions = locals.known_delivery(vector[target.index()], message);
            answers.extend(reactions.get(by.delivered as usize).into_iter().flat_map(|it| &it.answers));
        }
        Act::Rest { .. } | Act::Fault | Act::Unknown(_) => {}
    }
    answers
}

/// Follows one path.
struct Follow {
    by: Move,
    next: Option<Vec<LocalStateId>>,
}

impl Sink for Follow {
    fn successor(&mut self, from: &[LocalStateId], successor: Successor<'_>) {
        if successor.by == self.by {
            self.next = Some(apply(from, successor.changes));
        }
    }

    fn broken(&mut self, _: Move) {}

    fn cut(&mut self, _: Cut) {}
}

/// Runs the steps on a kernel; where it stands then.
pub(crate) fn run(
    exe: &Arc<Executable>,
    limits: Limits,
    steps: &[StepName],
) -> Result<Kernel<'static>, InternalError> {
    let mut kernel = Kernel::new(exe.clone(), limits);
    for step in steps {
        if !kernel.is_running() {
            return Err(InternalError::differs("a longer run", kernel.outcome()));
        }
        let mut answers = Given { answers: &step.answers, at: 0 };
        if kernel.take(step.choice, &mut answers, &mut Silent).is_err() {
            return Err(InternalError::differs("a step", kernel.outcome()));
        }
    }
    Ok(kernel)
}

/// The counterexample of steps that end in a violation of the kernel. It is replayed.
pub(crate) fn counterexample(
    exe: &Arc<Executable>,
    limits: Limits,
    steps: &[StepName],
) -> Result<Counterexample, InternalError> {
    let kernel = run(exe, limits, steps)?;
    let schedule = kernel.schedule().clone();
    let Outcome::Violated(expected) = kernel.outcome().clone() else {
        return Err(InternalError::differs("a violation", kernel.outcome()));
    };
    confirm(exe, limits, Claim { violation: *expected, schedule, loop_start: None })
}

/// The counterexample of steps to a configuration in which an invariant of the user does not hold, by its number.
pub(crate) fn breaking(
    exe: &Arc<Executable>,
    limits: Limits,
    steps: &[StepName],
    number: usize,
) -> Result<Counterexample, InternalError> {
    let schedule = run(exe, limits, steps)?.schedule().clone();
    confirm_invariant(exe, limits, schedule, number)
}

//! The search of the reduced system, breadth first, by one thread, with an exact store.

use std::hash::{BuildHasher, BuildHasherDefault};
use std::rc::Rc;
use std::sync::Arc;

use allways_base::Idx;
use allways_machine::ir::EventId;
use allways_machine::{Executable, Kernel, Outcome, Silent};
use allways_run::{
    Cancel, Choice, Counterexample, Guarantee, InstanceId, Limits, Observer, Progress, Schedule, StopReason,
    Verdict, Violation,
};
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use super::certificate::{Delegate, Subject, Writer, hex};
use super::delegates::Delegates;
use super::destination::{Chooser, Mover, NO_MOVER, Scene};
use super::options::{AlmostSyncOptions, FLOOD_AT, FLOOD_BOUND, FloodRule, Rules};
use super::places::{ABSENT, End, GONE, Head, HeadKind, Places};
use super::report::{AlmostSyncReport, Flood};
use super::senders::Senders;
use super::sleep::{self, Sleep};
use crate::confirm::{Claim, confirm};
use crate::error::InternalError;
use crate::search::counterexample::{self, StepName};
use crate::search::local::states::{Given, LocalStateId, LocalStates, Owner, Slot};
use crate::search::options::{SearchBounds, StoreKind};
use crate::search::reduce::data_independence::{self, Attempt, Names};
use crate::search::report::{ProveReport, ProveStatistics, Remarks};
use crate::shrink;

/// States between two checks of clock and memory.
const INTERVAL: u64 = 256;
/// After a step with so many outcomes it is asked at once whether to stop.
const WIDE: usize = 1 << 10;
/// Moves between two looks, where a state has many.
const MANY: u64 = 1 << 16;
/// States of the first round when an exact and an approximate search take turns.
const FIRST_ROUND: u64 = 50_000;
/// Violations of the approximate search that are tried on the kernel.
const MAX_TRIALS: u32 = 200;

/// Looks at the reduced system of a test.
///
/// # Errors
/// When a violation was found that does not replay: a fault of Allways.
pub fn prove(
    exe: &Arc<Executable>,
    options: &AlmostSyncOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<AlmostSyncReport, InternalError> {
    data_independence::refine(
        exe,
        (options.data_independence && !options.certificate, Names::None),
        cancel,
        |Attempt { plan, cancel, .. }| {
            let options = AlmostSyncOptions { data: plan, ..options.clone() };
            prove_by_plan(exe, &options, observer, cancel)
        },
        |found| found.as_ref().is_ok_and(|found| matches!(found.report.verdict, Verdict::Violated(_))),
    )
}

/// The search, with the answers that its plan says.
fn prove_by_plan(
    exe: &Arc<Executable>,
    options: &AlmostSyncOptions,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<AlmostSyncReport, InternalError> {
    if !exe.network.is_default() {
        let what = "the almost-synchronous engine with faults or a network other than `inbox`".to_owned();
        let mut search = Search::new(exe, options, None, observer, cancel);
        return search.finish(SearchEnd::Stopped(StopReason::Unsupported { what }));
    }
    if let Some(reason) = crate::search::observed_text(exe) {
        return Search::new(exe, options, None, observer, cancel).finish(SearchEnd::Stopped(reason));
    }
    let new = |bound| Search::new(exe, options, bound, observer, cancel);
    let mut exact = match options.flood {
        FloodRule::Bound(bound) => {
            let mut search = new(Some(bound));
            let end = search.run(None, None)?;
            return search.finish(end);
        }
        FloodRule::Off => {
            let mut search = new(None);
            let end = search.run(None, None)?;
            return search.finish(end);
        }
        FloodRule::Auto => new(None),
    };
    let end = exact.run(Some(FLOOD_AT), None)?;
    if end != SearchEnd::Flooded {
        return exact.finish(end);
    }
    // Which of the two ends cannot be known, so they take turns.
    let mut approximate = Some(new(Some(FLOOD_BOUND)));
    let mut n_states = FIRST_ROUND;
    loop {
        if let Some(search) = &mut approximate {
            search.flood.clone_from(&exact.flood);
            match search.run(None, Some(n_states))? {
                SearchEnd::Round => {}
                SearchEnd::Exhausted if search.doubts.is_some() || search.unknown.is_some() => {
                    approximate = None;
                }
                end => return search.finish(end),
            }
        }
        let round = approximate.is_some().then_some(n_states);
        match exact.run(None, round)? {
            SearchEnd::Round => {}
            end => return exact.finish(end),
        }
        n_states *= 2;
    }
}

/// How a search ended, or why it paused.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum SearchEnd {
    Exhausted,
    Broken(Box<Counterexample>),
    Stopped(StopReason),
    /// An inbox is longer than it may be.
    Flooded,
    /// So many states were explored.
    Round,
}

/// A move of the reduced system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Move {
    /// The machine that moves; [`BLOCK`] and [`BEGIN`] are no machine.
    pub slot: Slot,
    /// Outcomes of the machine and of the receiver; of the beginning, which one.
    pub own: u32,
    pub reaction: u32,
}

const BLOCK: Slot = Slot::from_u32(u32::MAX);
const BEGIN: Slot = Slot::from_u32(u32::MAX - 1);

/// A step that breaks a property.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Broken {
    pub state: u32,
    pub by: Move,
}

/// The machine that steps, from which state to states of which depth, and what is asleep there.
#[derive(Clone, Copy)]
struct Stepper {
    state: u32,
    depth: u32,
    slot: Slot,
    asleep: u64,
}

/// All states that were met, and where they came from.
#[derive(Default)]
pub(crate) struct States {
    places: Vec<u32>,
    ends: Vec<usize>,
    origins: Vec<(u32, Move)>,
    depths: Vec<u32>,
    index: HashTable<u32>,
}

impl States {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn get(&self, state: u32) -> &[u32] {
        let start = if state == 0 { 0 } else { self.ends[state as usize - 1] };
        &self.places[start..self.ends[state as usize]]
    }

    /// The number of a state, which is met now or was before.
    fn insert(&mut self, vector: &[u32], origin: (u32, Move), depth: u32) -> u32 {
        let length = vector.iter().rposition(|&place| place != ABSENT).map_or(0, |at| at + 1);
        let vector = &vector[..length];
        let hash_of = |vector: &[u32]| BuildHasherDefault::<FxHasher>::default().hash_one(vector);
        let hash = hash_of(vector);
        let (places, ends) = (&self.places, &self.ends);
        let get = |state: u32| {
            let start = if state == 0 { 0 } else { ends[state as usize - 1] };
            &places[start..ends[state as usize]]
        };
        if let Some(&known) = self.index.find(hash, |&state| get(state) == vector) {
            return known;
        }
        let state = ends.len() as u32;
        self.index.insert_unique(hash, state, |&state| hash_of(get(state)));
        self.places.extend_from_slice(vector);
        self.ends.push(self.places.len());
        self.origins.push(origin);
        self.depths.push(depth);
        state
    }

    fn n_bytes(&self) -> usize {
        self.places.capacity() * 4
            + self.ends.capacity() * 8
            + self.origins.capacity() * 16
            + self.depths.capacity() * 4
            + self.index.capacity() * 5
    }
}

pub(crate) struct Search<'a> {
    pub exe: &'a Arc<Executable>,
    options: &'a AlmostSyncOptions,
    observer: &'a dyn Observer,
    cancel: &'a dyn Cancel,
    pub places: Places<'a>,
    pub senders: Senders,
    pub states: States,
    /// The answers of the first step, for each way that it can go.
    beginnings: Vec<Vec<u32>>,
    /// The next state to explore.
    next: u32,
    has_begun: bool,
    n_transitions: u64,
    n_blocked: u64,
    n_machines: u32,
    peak_bytes: u64,
    pub unknown: Option<StopReason>,
    pub flood: Option<Flood>,
    /// A violation of the approximate search that did not replay, in words.
    doubts: Option<String>,
    n_trials: u32,
    /// Go on after violations, and keep all of them.
    pub keeps_all: bool,
    pub broken: Vec<Broken>,
    broken_beginnings: Vec<Vec<u32>>,
    /// Writes the certificate, if one is wanted.
    certificate: Option<Writer>,
    /// Places of machines that have halted, if all is kept, with the first move that led there.
    pub halted: FxHashMap<u32, (u32, Move)>,
    scene: Scene,
    chooser: Chooser,
    chosen: Vec<u32>,
    /// Whether steps may be delegates, and those in vain are left out.
    is_lean: bool,
    delegates: Delegates,
    sleep: Sleep,
    /// States that were explored, each as often as it was.
    n_looks: u64,
    /// The number of moves at which clock and memory are checked again.
    look_at: u64,
}

impl<'a> Search<'a> {
    pub fn new(
        exe: &'a Arc<Executable>,
        options: &'a AlmostSyncOptions,
        bound: Option<u32>,
        observer: &'a dyn Observer,
        cancel: &'a dyn Cancel,
    ) -> Self {
        let mut locals = LocalStates::new(
            exe,
            options.limits,
            SearchBounds::default(),
            false,
            options.simplify,
            false,
            cancel,
        );
        locals.set_data(options.data.clone());
        Search {
            exe,
            options,
            observer,
            cancel,
            places: Places::new(exe, locals, bound),
            senders: Senders::new(exe),
            states: States::default(),
            beginnings: Vec::new(),
            next: 0,
            has_begun: false,
            n_transitions: 0,
            n_blocked: 0,
            n_machines: 1,
            peak_bytes: 0,
            unknown: None,
            flood: None,
            doubts: None,
            n_trials: 0,
            keeps_all: false,
            broken: Vec::new(),
            broken_beginnings: Vec::new(),
            certificate: options.certificate.then(Writer::new),
            halted: FxHashMap::default(),
            scene: Scene::default(),
            chooser: Chooser::default(),
            chosen: Vec::new(),
            is_lean: options.rules == Rules::Lean,
            delegates: Delegates::default(),
            sleep: Sleep::new(options.sleep && !options.certificate),
            n_looks: 0,
            look_at: 0,
        }
    }

    /// Goes on until something ends it: an inbox longer than `flood_at`, or so many more states.
    pub fn run(&mut self, flood_at: Option<u32>, round: Option<u64>) -> Result<SearchEnd, InternalError> {
        if !std::mem::replace(&mut self.has_begun, true)
            && let Some(end) = self.begin()?
        {
            return Ok(end);
        }
        let last = round.map_or(u64::MAX, |n| u64::from(self.next) + n);
        loop {
            let is_time = self.n_looks.is_multiple_of(INTERVAL) || self.n_transitions >= self.look_at;
            if is_time && let Some(reason) = self.stop_reason() {
                return Ok(SearchEnd::Stopped(reason));
            }
            if u64::from(self.next) >= last {
                return Ok(SearchEnd::Round);
            }
            let woken = self.sleep.next();
            let state = match woken {
                Some(state) => state,
                None if (self.next as usize) < self.states.len() => {
                    self.next += 1;
                    self.next - 1
                }
                None => return Ok(SearchEnd::Exhausted),
            };
            self.n_looks += 1;
            let n_broken = self.broken.len();
            self.expand(state, woken.is_some(), flood_at)?;
            if !self.keeps_all && self.broken.len() > n_broken {
                let found = self.broken.split_off(n_broken);
                if let Some(end) = self.try_violations(&found)? {
                    return Ok(end);
                }
            }
            if flood_at.is_some() && self.flood.is_some() {
                return Ok(SearchEnd::Flooded);
            }
        }
    }

    /// Memory in use, roughly.
    fn n_bytes(&self) -> u64 {
        let certificate = self.certificate.as_ref().map_or(0, Writer::n_bytes);
        let states = self.states.n_bytes() + self.delegates.n_bytes() + self.sleep.n_bytes();
        (states + self.places.n_bytes() + certificate) as u64
    }

    fn stop_reason(&mut self) -> Option<StopReason> {
        self.look_at = self.n_transitions + MANY;
        let bytes = self.n_bytes();
        self.peak_bytes = self.peak_bytes.max(bytes);
        self.observer.progress(&Progress {
            n_steps: self.n_transitions,
            n_configurations: Some(self.states.len() as u64),
            frontier: Some(self.states.len() as u64 - u64::from(self.next)),
            depth: self.states.depths.get(self.next as usize).map_or(0, |&depth| u64::from(depth)),
            bytes: Some(bytes),
            ..Progress::default()
        });
        if let Some(reason) = self.cancel.reason() {
            return Some(reason);
        }
        if let Some(limit) = self.options.limits.memory_bytes
            && bytes > limit
        {
            return Some(StopReason::Memory { bytes: limit });
        }
        let limit = self.options.max_states?;
        (self.states.len() as u64 > limit).then(|| StopReason::Undecided {
            why: format!("the limit of {limit} states was reached (`--max-states`)"),
        })
    }

    fn begin(&mut self) -> Result<Option<SearchEnd>, InternalError> {
        let beginning = self.places.locals.begin();
        self.n_transitions += beginning.n_transitions;
        if let Some(reason) = beginning.unknown {
            self.unknown.get_or_insert(reason);
        }
        for (answers, vector) in beginning.vectors {
            let own = self.beginnings.len() as u32;
            self.beginnings.push(answers);
            let origin = (u32::MAX, Move { slot: BEGIN, own, reaction: 0 });
            let mut places = Vec::new();
            for local in vector {
                let place = if local.is_absent() { ABSENT } else { self.places.of_local(local) };
                places.push(if local.is_absent() { ABSENT } else { self.settle(place, origin) });
            }
            let state = self.states.insert(&places, origin, 1);
            self.sleep.meets(state, 0, self.next);
        }
        if self.keeps_all {
            self.broken_beginnings = beginning.violations;
        } else if let Some(answers) = beginning.violations.into_iter().next() {
            let steps = [StepName::first(answers)];
            return Ok(Some(SearchEnd::Broken(Box::new(self.counterexample(&steps)?))));
        }
        Ok(None)
    }

    /// What a machine can do; a creation is made known to the topology.
    fn head(&mut self, slot: Slot, place: u32) -> Result<Rc<Head>, InternalError> {
        let head = self.places.head(slot, place);
        if head.outcomes.len() >= WIDE {
            self.look_at = 0;
        }
        if let Some((created, _)) = head.outcomes.iter().find_map(|outcome| outcome.created) {
            let local = self.places.locals.local(self.places.local(place));
            self.senders.creates(slot, created, local).map_err(fault)?;
        }
        Ok(head)
    }

    /// All moves of a state except sleeping ones; `is_again` if it was expanded before, and a step was woken.
    fn expand(&mut self, state: u32, is_again: bool, flood_at: Option<u32>) -> Result<(), InternalError> {
        let n_monitors = self.places.locals.n_monitors();
        let vector = self.states.get(state).to_vec();
        let depth = self.states.depths[state as usize] + 1;
        let machines = || {
            let slots = vector.iter().enumerate().skip(n_monitors);
            slots
                .filter(|&(_, &place)| place != ABSENT && place != GONE)
                .map(|(slot, &place)| (Slot::new(slot), place))
        };
        self.n_machines =
            self.n_machines.max(vector[n_monitors..].iter().filter(|&&p| p != ABSENT).count() as u32);
        self.n_blocked += u64::from(!is_again && vector.contains(&GONE));
        self.sleep.has_slots(vector.len());
        let mut heads: Vec<(Slot, Rc<Head>)> = Vec::new();
        for (slot, place) in machines() {
            heads.push((slot, self.head(slot, place)?));
        }
        self.scene.clear(self.senders.n_words());
        let mut movers: Vec<Rc<Head>> = Vec::new();
        for (slot, head) in heads {
            match &head.kind {
                HeadKind::Rests => self.scene.receives(slot),
                HeadKind::Fault if is_again => {}
                HeadKind::Fault => {
                    self.n_transitions += 1;
                    self.broken.push(Broken { state, by: Move { slot, own: 0, reaction: 0 } });
                }
                HeadKind::Unknown(reason) => {
                    self.unknown.get_or_insert_with(|| reason.clone());
                }
                HeadKind::Moves => {
                    if head.is_receiving {
                        self.scene.receives(slot);
                    }
                    let mut n_waiting = u32::from(head.waits_itself);
                    if let Some((target, message)) = head.deliver {
                        let place = vector[target.index()];
                        n_waiting += u32::from(place != GONE && self.places.must_wait(place, message));
                    }
                    let is_vain = self.is_lean && self.is_vain(&vector, &head);
                    // A monitor that nothing changes any more is not touched.
                    let (places, topology, is_lean) = (&self.places, self.senders.topology(), self.is_lean);
                    let is_representative = |slot: Slot, place: u32| {
                        is_lean
                            && (slot.index()) < n_monitors
                            && topology.is_settled(places.locals.local(places.local(place)).control)
                    };
                    let is_touched = |&slot: &Slot| {
                        let place = vector[slot.index()];
                        place != GONE && !is_representative(slot, place)
                    };
                    let touched = head.targets.iter().copied().filter(is_touched);
                    self.scene.moves(Mover { slot, n_waiting, is_vain }, touched);
                    movers.push(head);
                }
            }
        }
        if self.scene.n_real == 0 {
            if let Some(certificate) = &mut self.certificate {
                certificate.state(&vector, std::iter::empty(), Delegate::None);
            }
            if !is_again {
                self.sleep.looked_at(0, false);
            }
            return Ok(());
        }
        let mut chosen = std::mem::take(&mut self.chosen);
        let known = is_again.then(|| self.sleep.stepped(state));
        match known {
            // Potential senders may have grown since; the earlier choice was right.
            Some((slots, _)) => {
                chosen.clear();
                chosen.extend(sleep::slots(slots).map(|slot| self.scene.mover_of[slot.index()]));
            }
            None => {
                self.chooser
                    .choose(&self.scene, &self.senders, self.options.choice, &mut chosen)
                    .map_err(fault)?;
            }
        }
        let slot_of = |scene: &Scene, mover: u32| scene.movers[mover as usize].slot;
        let stepped =
            chosen.iter().map(|&mover| sleep::bit(slot_of(&self.scene, mover))).fold(0, |all, bit| all | bit);
        // Without other movers there are no runs that need a delegate.
        let needs_delegate = known.is_none() && chosen.len() < self.scene.n_real;
        let can_inherit = |search: &Self, mover: u32| {
            let goes_on = |target: Slot| {
                let other = search.scene.mover_of[target.index()];
                other != NO_MOVER && !chosen.contains(&other)
            };
            let deliver = movers[mover as usize].deliver;
            needs_delegate && search.is_lean && !deliver.is_some_and(|(target, _)| goes_on(target))
        };
        let mut asleep = self.sleep.of(state);
        let mut done = 0;
        let mut delegate: Option<(u32, Delegate<Slot>)> = None;
        for &mover in &chosen {
            let slot = slot_of(&self.scene, mover);
            if asleep & sleep::bit(slot) != 0 {
                continue;
            }
            let still_asleep = self.still_asleep(&vector, &movers, mover, asleep | done);
            let from = Stepper { state, depth, slot, asleep: still_asleep };
            let can_inherit = can_inherit(self, mover);
            let found = self.step(from, &vector, &movers[mover as usize], can_inherit, flood_at);
            if let Some(found) = found
                && delegate.is_none_or(|(delegate, _)| found < delegate)
            {
                delegate = Some((found, Delegate::Step(slot)));
            }
            done |= sleep::bit(slot);
        }
        // A sleeper that is woken goes before those that were stepped.
        for &mover in &chosen {
            let slot = slot_of(&self.scene, mover);
            if delegate.is_some() || asleep & sleep::bit(slot) == 0 || !can_inherit(self, mover) {
                continue;
            }
            asleep &= !sleep::bit(slot);
            self.sleep.wake(state, sleep::bit(slot));
            let still_asleep = self.still_asleep(&vector, &movers, mover, asleep);
            let from = Stepper { state, depth, slot, asleep: still_asleep };
            let found = self.step(from, &vector, &movers[mover as usize], true, flood_at);
            delegate = found.map(|found| (found, Delegate::Step(slot)));
        }
        let is_blocking = known.map_or(needs_delegate && delegate.is_none(), |(_, is_blocking)| is_blocking);
        if is_blocking {
            let mut blocked = vector.clone();
            for &mover in &chosen {
                blocked[slot_of(&self.scene, mover).index()] = GONE;
            }
            self.n_transitions += 1;
            let by = Move { slot: BLOCK, own: 0, reaction: 0 };
            let number = self.states.insert(&blocked, (state, by), depth);
            self.sleep.meets(number, asleep & !stepped, self.next);
            delegate = Some((number, Delegate::Blocked));
        }
        if known.is_none() {
            self.sleep.looked_at(stepped, is_blocking);
            if let Some((delegate, _)) = delegate {
                self.delegates.set(state, delegate);
            }
        }
        if let Some(certificate) = &mut self.certificate {
            let slots = chosen.iter().map(|&mover| self.scene.movers[mover as usize].slot);
            certificate.state(&vector, slots, delegate.map_or(Delegate::None, |(_, delegate)| delegate));
        }
        self.chosen = chosen;
        Ok(())
    }

    /// Those whose steps are independent of that of a mover.
    fn still_asleep(&mut self, vector: &[u32], movers: &[Rc<Head>], mover: u32, slots: u64) -> u64 {
        let mut still = 0;
        let slots = if self.sleep.is_on() { slots } else { 0 };
        for slot in sleep::slots(slots) {
            let other = self.scene.mover_of[slot.index()];
            if other != NO_MOVER && self.is_independent(vector, movers, mover, other) {
                still |= sleep::bit(slot);
            }
        }
        still
    }

    /// Whether the same comes of two steps in whichever order.
    fn is_independent(&mut self, vector: &[u32], movers: &[Rc<Head>], one: u32, other: u32) -> bool {
        let touched = |mover: u32| self.scene.touched(mover as usize)[0];
        let own = |mover: u32| sleep::bit(self.scene.movers[mover as usize].slot);
        let (by_one, by_other) = (touched(one), touched(other));
        if by_one & own(other) != 0 || by_other & own(one) != 0 {
            return false;
        }
        let both = by_one & by_other;
        if both == 0 {
            return true;
        }
        match (movers[one as usize].deliver, movers[other as usize].deliver) {
            (Some((target, first)), Some((same, second))) if target == same && both == sleep::bit(target) => {
                self.places.commute(vector[target.index()], first, second)
            }
            _ => false,
        }
    }

    /// Whether a step leaves everything as it is.
    fn is_vain(&mut self, vector: &[u32], head: &Head) -> bool {
        head.returns
            && head.outcomes.iter().flat_map(|outcome| &outcome.observed).all(|&(monitor, message)| {
                let place = vector[monitor.index()];
                self.places.hear(place, message) == End::At(place)
            })
            && head.deliver.is_none_or(|(target, message)| {
                let place = vector[target.index()];
                place == GONE || self.places.is_unmoved(place, message)
            })
    }

    /// All steps of one machine. If a delegate is looked for: the first state of those that can be it.
    fn step(
        &mut self,
        Stepper { state, depth, slot, asleep }: Stepper,
        vector: &[u32],
        head: &Head,
        needs_delegate: bool,
        flood_at: Option<u32>,
    ) -> Option<u32> {
        let mut delegate = None;
        let delivery = head.deliver.filter(|&(target, _)| vector[target.index()] != GONE);
        let reactions = delivery.map(|(target, message)| self.places.react(vector[target.index()], message));
        let n_reactions = reactions.as_ref().map_or(1, |reactions| reactions.len());
        let mut successor = Vec::new();
        for (own, outcome) in head.outcomes.iter().enumerate() {
            self.n_transitions += 1;
            let by = |reaction: usize| Move { slot, own: own as u32, reaction: reaction as u32 };
            successor.clear();
            successor.extend_from_slice(vector);
            let mut end = outcome.end.clone();
            for &(monitor, message) in &outcome.observed {
                match self.places.hear(successor[monitor.index()], message) {
                    End::At(place) => successor[monitor.index()] = place,
                    other => {
                        end = other;
                        break;
                    }
                }
            }
            match end {
                End::At(place) => {
                    successor[slot.index()] = self.settle(place, (state, by(0)));
                    // It may flood itself.
                    self.watch_flood(vector, slot, slot, place, flood_at);
                }
                End::Fault => {
                    self.broken.push(Broken { state, by: by(0) });
                    continue;
                }
                End::Unknown(reason) => {
                    self.unknown.get_or_insert(reason);
                    continue;
                }
            }
            if let Some((created, place)) = outcome.created {
                if successor.len() <= created.index() {
                    successor.resize(created.index() + 1, ABSENT);
                }
                successor[created.index()] = self.settle(place, (state, by(0)));
            }
            for reaction in 0..n_reactions {
                if let (Some((target, _)), Some(reactions)) = (delivery, &reactions) {
                    match &reactions[reaction].end {
                        End::At(place) => {
                            successor[target.index()] = self.settle(*place, (state, by(reaction)));
                            self.watch_flood(vector, slot, target, *place, flood_at);
                        }
                        // Faults of a receiver wait for a step of its own.
                        End::Fault => continue,
                        End::Unknown(reason) => {
                            self.unknown.get_or_insert_with(|| reason.clone());
                            continue;
                        }
                    }
                }
                self.n_transitions += u64::from(reaction > 0);
                let number = self.states.insert(&successor, (state, by(reaction)), depth);
                self.sleep.meets(number, asleep, self.next);
                if needs_delegate
                    && delegate.is_none_or(|delegate| number < delegate)
                    && self.delegates.is_open(state, number)
                {
                    delegate = Some(number);
                }
            }
        }
        delegate
    }

    /// A halted machine is gone.
    fn settle(&mut self, place: u32, origin: (u32, Move)) -> u32 {
        if !self.places.is_halted(place) {
            return place;
        }
        if self.keeps_all {
            self.halted.entry(place).or_insert(origin);
        }
        GONE
    }

    fn watch_flood(&mut self, vector: &[u32], sender: Slot, receiver: Slot, place: u32, limit: Option<u32>) {
        if limit.is_some_and(|limit| self.places.n_waiting(place) > limit) && self.flood.is_none() {
            self.flood = Some(self.flood_of(vector, sender, receiver, place));
        }
    }

    fn flood_of(&self, vector: &[u32], sender: Slot, receiver: Slot, place: u32) -> Flood {
        let inbox = &self.places.locals.local(self.places.local(place)).inbox;
        let count = |event: EventId| inbox.iter().filter(|message| message.event == event).count();
        let event = inbox.iter().map(|message| message.event).max_by_key(|&event| (count(event), event));
        Flood {
            sender: self.places.machine_name(sender, vector[sender.index()]),
            receiver: self.places.machine_name(receiver, place),
            event: event.map_or(String::new(), |event| self.exe.event_name(event).to_owned()),
            n_waiting: inbox.len() as u32,
        }
    }

    /// The steps of the kernel that lead to a state, and one more.
    pub fn way(&mut self, broken: Broken) -> Vec<StepName> {
        self.way_by((broken.state, broken.by))
    }

    /// The steps of the kernel that lead to a state.
    pub fn way_to(&mut self, state: u32) -> Vec<StepName> {
        self.way_by(self.states.origins[state as usize])
    }

    /// The steps up to a move, which is the last: block moves are nothing, and what was dropped is delivered.
    pub fn way_by(&mut self, last: (u32, Move)) -> Vec<StepName> {
        let mut moves = Vec::new();
        let mut at = last;
        while at.0 != u32::MAX {
            moves.push(at);
            at = self.states.origins[at.0 as usize];
        }
        let answers = self.beginnings[at.1.own as usize].clone();
        let mut steps = vec![StepName::first(answers)];
        for (state, by) in moves.into_iter().rev() {
            if by.slot == BLOCK {
                continue;
            }
            let Owner::Machine(machine) = self.places.locals.owner(by.slot) else { continue };
            let vector = self.states.get(state).to_vec();
            let head = self.places.head(by.slot, vector[by.slot.index()]);
            let mut answers: Vec<u32> = Vec::new();
            if let Some(outcome) = head.outcomes.get(by.own as usize) {
                answers.extend(&outcome.answers);
            }
            if let Some((target, message)) = head.deliver
                && vector[target.index()] != GONE
            {
                let reactions = self.places.react(vector[target.index()], message);
                answers.extend(&reactions[by.reaction as usize].answers);
            }
            steps.push(StepName { choice: Choice::Machine(machine), answers });
        }
        steps
    }

    /// The steps of the kernel to a violation, found by walking: states leave out what does not count, such as the order of a
    /// collection, so answers may mean something else in a run. At each step those are taken that lead on.
    fn walk(&mut self, broken: Broken) -> Result<Vec<StepName>, InternalError> {
        let mut way = vec![(broken.by, None)];
        let mut at = (broken.state, self.states.origins[broken.state as usize]);
        while at.1.0 != u32::MAX {
            way.push((at.1.1, Some(at.0)));
            at = (at.1.0, self.states.origins[at.1.0 as usize]);
        }
        way.push((at.1.1, Some(at.0)));
        let mut walk = self.places.locals.walk();
        let mut steps = Vec::new();
        for (by, state) in way.into_iter().rev() {
            let machine = match by.slot {
                BLOCK => continue,
                BEGIN => InstanceId::MAIN,
                slot => match self.places.locals.owner(slot) {
                    Owner::Machine(machine) => machine,
                    Owner::Monitor(_) | Owner::Network(_) => continue,
                },
            };
            let places = state.map(|state| self.states.get(state).iter());
            let expected: Option<Vec<Option<LocalStateId>>> = places.map(|places| {
                let is_there = |&&place: &&u32| place != ABSENT && place != GONE;
                places
                    .map(|place| Some(place).filter(is_there).map(|&place| self.places.local(place)))
                    .collect()
            });
            let found = self.places.locals.walk_on(&walk, machine, |_, outcome, locals| match &expected {
                None => matches!(outcome, Outcome::Violated(_)),
                Some(expected) => expected
                    .iter()
                    .enumerate()
                    .all(|(slot, local)| local.is_none_or(|local| locals.get(slot) == Some(&local))),
            });
            let found =
                found.ok_or_else(|| InternalError::differs("a step of the way", &Outcome::Running))?;
            steps.push(StepName { choice: Choice::Machine(machine), answers: found.answers });
            walk = found.walk;
        }
        Ok(steps)
    }

    /// Steps to violations that the first step already shows.
    pub fn first_steps(&self) -> impl Iterator<Item = Vec<StepName>> + '_ {
        let answers = self.broken_beginnings.iter();
        answers.map(|answers| vec![StepName::first(answers.clone())])
    }

    fn try_violations(&mut self, found: &[Broken]) -> Result<Option<SearchEnd>, InternalError> {
        for &broken in found {
            if !self.places.is_approximate {
                let steps = self.walk(broken)?;
                return Ok(Some(SearchEnd::Broken(Box::new(self.counterexample(&steps)?))));
            }
            if self.n_trials < MAX_TRIALS {
                self.n_trials += 1;
                let steps = self.way(broken);
                if let Some((schedule, violation)) = attempt(self.exe, self.options.limits, &steps) {
                    return Ok(Some(SearchEnd::Broken(Box::new(self.show(&schedule, &violation)?))));
                }
            }
            self.doubts.get_or_insert_with(|| {
                let place = self.states.get(broken.state)[broken.by.slot.index()];
                self.places.machine_name(broken.by.slot, place)
            });
        }
        Ok(None)
    }

    fn counterexample(&self, steps: &[StepName]) -> Result<Counterexample, InternalError> {
        let kernel = counterexample::run(self.exe, self.options.limits, steps)?;
        match kernel.outcome() {
            Outcome::Violated(violation) => self.show(kernel.schedule(), violation),
            other => Err(InternalError::differs("a violation", other)),
        }
    }

    /// Shrinks and replays a schedule that ends in a violation.
    fn show(&self, schedule: &Schedule, violation: &Violation) -> Result<Counterexample, InternalError> {
        let limits = self.options.limits;
        let mut kernel = Kernel::with_stop(self.exe.clone(), limits, self.cancel);
        kernel.set_transient(true);
        let is_cancelled = || self.cancel.reason().is_some();
        let budget = self.options.shrink_steps;
        let schedule = shrink::shrink(&mut kernel, schedule, violation, budget, &is_cancelled);
        confirm(self.exe, limits, Claim { violation: violation.clone(), schedule, loop_start: None })
    }

    fn finish(&mut self, end: SearchEnd) -> Result<AlmostSyncReport, InternalError> {
        let bytes = self.n_bytes();
        self.peak_bytes = self.peak_bytes.max(bytes);
        let n_states = self.states.len() as u64;
        let statistics = ProveStatistics {
            n_configurations: n_states,
            n_transitions: self.n_transitions,
            depth: self.states.depths.last().map_or(0, |&depth| u64::from(depth)),
            largest_inbox: self.places.locals.largest_inbox() as u32,
            n_machines: self.n_machines,
            n_local_states: self.places.locals.n_local_states() as u64,
            n_messages: self.places.locals.n_messages() as u64,
            store: StoreKind::Exact,
            bytes_per_configuration: self.states.n_bytes() as f64 / n_states.max(1) as f64,
            peak_bytes: self.peak_bytes,
            ..ProveStatistics::default()
        };
        let coverage = self.places.locals.coverage();
        let is_approximate = self.places.is_approximate;
        let mut dead_handlers = None;
        let mut stopped = None;
        let verdict = match end {
            SearchEnd::Broken(found) => Verdict::Violated(found),
            SearchEnd::Stopped(reason) => {
                stopped = Some(reason.clone());
                Verdict::Unknown(reason)
            }
            SearchEnd::Exhausted | SearchEnd::Flooded | SearchEnd::Round => {
                match (self.unknown.take(), self.doubts.take()) {
                    (Some(reason), _) => Verdict::Unknown(reason),
                    (None, Some(machine)) => Verdict::Unknown(StopReason::Undecided {
                        why: format!(
                            "a violation by {machine} can be neither excluded nor replayed, because its inbox is \
                             over-approximated; try `--flood off`, a larger `--flood N`, or `--engine explicit`"
                        ),
                    }),
                    (None, None) => {
                        if !is_approximate {
                            dead_handlers = Some(coverage.unused_handlers(self.exe));
                        }
                        Verdict::Holds(Guarantee::LocalStates { is_approximate })
                    }
                }
            }
        };
        let is_proved = matches!(verdict, Verdict::Holds(_));
        let certificate = if is_proved { self.take_certificate() } else { None };
        let remarks = Remarks::default();
        let report = ProveReport { verdict, statistics, coverage, dead_handlers, stopped, remarks };
        Ok(AlmostSyncReport { report, flood: self.flood.take(), certificate, n_blocked: self.n_blocked })
    }
}

impl Search<'_> {
    /// The certificate, if one is wanted.
    fn take_certificate(&mut self) -> Option<String> {
        let writer = self.certificate.take()?;
        let subject = Subject {
            exe: self.exe,
            topology: self.senders.topology(),
            rules: self.options.rules,
            simplify: self.options.simplify,
            bound: self.places.bound(),
        };
        let locals = &self.places.locals;
        let path = |slot: Slot| match locals.owner(slot) {
            Owner::Machine(instance) => Some(self.exe.instance_path(instance)),
            Owner::Monitor(_) | Owner::Network(_) => None,
        };
        Some(writer.finish(&subject, path, |place| {
            let tail = self.places.tail(place).iter();
            let tail = tail.map(|&message| hex(&locals.encoded_message(message))).collect();
            (locals.encoded(self.places.local(place)), tail)
        }))
    }
}

/// Makes steps that need not fit: those that cannot be made are left out. The schedule, if a violation comes of it.
fn attempt(exe: &Arc<Executable>, limits: Limits, steps: &[StepName]) -> Option<(Schedule, Violation)> {
    let mut kernel = Kernel::new(exe.clone(), limits);
    for step in steps {
        if !kernel.is_running() {
            break;
        }
        // What the approximate run guessed may not fit.
        let mut answers = Given { answers: &step.answers, at: 0 };
        let _ = kernel.take(step.choice, &mut answers, &mut Silent);
    }
    let Outcome::Violated(violation) = kernel.outcome().clone() else { return None };
    debug_assert!(
        kernel.schedule().choices.first().is_none_or(|choice| matches!(choice, Choice::Machine(_)))
    );
    Some((kernel.schedule().clone(), *violation))
}

fn fault(what: String) -> InternalError {
    InternalError::OtherOutcome { expected: "a topology that knows everything".to_owned(), found: what }
}

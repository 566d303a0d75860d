//! Local steps: what a machine or monitor does in a local state, computed by the kernel, for every resolution of its choices.

use std::sync::Arc;

use allways_base::Idx;
use allways_machine::content::{live_words, words};
use allways_machine::ir::InterfaceId;
use allways_machine::{
    Alone, Answers, Local, Message, Oracle, Outcome, Paused, Pending, Script, Silent, Snapshot, Status,
    Touched,
};
use allways_run::{InstanceId, NetworkModel, StopReason};
use rustc_hash::FxHashMap;

use super::{
    Act, Answer, Beginning, Delivered, Ending, Given, Heard, InputId, LocalOutcome, LocalState, LocalStateId,
    LocalStates, Owner, Slot,
};
use crate::search::local::entries::NetworkOp;
use crate::search::local::network::fate_answer;

/// More resolutions of the data choices of one handler are unsupported.
const MAX_RESOLUTIONS: usize = 100_000;
/// So are more choices in a row, each of which leads elsewhere: every one of them keeps the answers that lead to it.
const MAX_IN_A_ROW: usize = 1 << 12;
/// Outcomes of one step after which it is asked whether to stop.
pub(crate) const LOOK_AFTER: usize = 1 << 14;

/// Local steps after which it is asked likewise. Each may take as long as a handler, or lay out a large network.
const STEPS_PER_LOOK: u32 = 16;

/// One outcome of a part, before it is known what becomes of a machine that was made.
struct Branch {
    end: Ending,
    answers: Arc<[Answer]>,
    observed: Arc<[(Slot, InputId)]>,
    touched: Touched,
}

impl Branch {
    fn outcome(&self, birth: Option<(Slot, &Branch)>) -> LocalOutcome {
        let (mut created, mut birth_answers, mut end) = (None, None, &self.end);
        if let Some((slot, birth)) = birth {
            birth_answers = (!birth.answers.is_empty()).then(|| birth.answers.clone());
            match birth.end {
                Ending::Stands(id) => created = Some((slot, id)),
                Ending::Cut(_) | Ending::Fault(..) | Ending::Unknown(_) => end = &birth.end,
            }
        }
        let (answers, observed) = (self.answers.clone(), self.observed.clone());
        let touched = self.touched;
        LocalOutcome { end: end.clone(), answers, birth_answers, observed, created, birth: None, touched }
    }
}

/// Nothing is allocated for nothing.
fn shared<T>(all: Vec<T>) -> Arc<[T]> {
    if all.is_empty() { Arc::default() } else { all.into() }
}

/// A machine at a data choice, and how it came there.
struct Fork {
    /// In the order in which choices were met.
    number: u32,
    local: Local,
    paused: Paused,
    observed: Vec<(Slot, InputId)>,
    answers: Vec<Answer>,
}

/// How outcomes of choices meet: whether all of them can come to an end.
#[derive(Default)]
struct Joins {
    /// From choice to choice.
    edges: Vec<(u32, u32)>,
    /// By choice, the one before it on the first path there, and the answer to that one.
    before: Vec<(u32, u32)>,
    /// Choices after which there may be an end at once.
    ends: Vec<u32>,
    have_met: bool,
}

impl Joins {
    fn add(&mut self, from: Option<u32>, answer: u32, to: u32, is_known: bool) {
        self.have_met |= is_known;
        self.edges.extend(from.map(|from| (from, to)));
        if !is_known {
            self.before.push((from.unwrap_or(to), answer));
        }
    }

    /// The answers that lead to a choice from the first one.
    fn way_to(&self, choice: u32) -> Vec<u32> {
        let mut answers = Vec::new();
        let mut at = choice;
        while at != 0 {
            let (before, answer) = self.before[at as usize];
            answers.push(answer);
            at = before;
        }
        answers.reverse();
        answers
    }

    fn end(&mut self, from: Option<u32>) {
        // One answer after the other: this keeps it short.
        if from.is_some() && self.ends.last() != from.as_ref() {
            self.ends.extend(from);
        }
    }

    /// The first choice of so many that has no end anywhere behind it. Unless some have met, paths are a tree, and have.
    fn endless(&mut self, n: usize) -> Option<u32> {
        if !self.have_met {
            return None;
        }
        self.edges.sort_unstable_by_key(|&(_, to)| to);
        let mut is_good = vec![false; n];
        let mut open = std::mem::take(&mut self.ends);
        while let Some(choice) = open.pop() {
            if std::mem::replace(&mut is_good[choice as usize], true) {
                continue;
            }
            let first = self.edges.partition_point(|&(_, to)| to < choice);
            let before = self.edges[first..].iter().take_while(|&&(_, to)| to == choice);
            open.extend(before.map(|&(from, _)| from));
        }
        is_good.iter().position(|&is_good| !is_good).map(|choice| choice as u32)
    }
}

impl LocalStates<'_> {
    /// Before a local step: the reason to stop, if there is one. Callers that ask for many steps need not ask for the time as well.
    fn must_stop(&mut self) -> Option<StopReason> {
        self.n_unasked += 1;
        if self.n_following > 0 || self.n_unasked < STEPS_PER_LOOK {
            return None;
        }
        let reason = self.cancel.reason();
        // Once there is a reason, it is asked each time, so that nothing more is computed while it holds.
        self.n_unasked = if reason.is_some() { STEPS_PER_LOOK } else { 0 };
        reason
    }

    /// The same in the middle of a step. A step of a run that was found is computed to its end.
    fn must_stop_within(&self) -> Option<StopReason> {
        if self.n_following > 0 { None } else { self.cancel.reason() }
    }

    /// What a machine can do in a local state, cached.
    pub fn known_act(&mut self, id: LocalStateId) -> Arc<Act> {
        if let Some(act) = self.acts.get(&id) {
            return act.clone();
        }
        // Of a step that was taken, so it is computed whatever the time.
        let act = Arc::new(self.compute_act(id));
        self.acts.insert(id, act.clone());
        act
    }

    /// What a machine can do where it stands.
    pub fn act(&mut self, id: LocalStateId) -> Act {
        if let Some(reason) = self.must_stop() {
            return Act::Unknown(reason);
        }
        self.compute_act(id)
    }

    fn compute_act(&mut self, id: LocalStateId) -> Act {
        let LocalState { local, owner, .. } = &self.states[id.index()];
        let machine = match *owner {
            Owner::Machine(machine) => machine,
            Owner::Network(_) => return self.arrivals(id).map_or_else(Act::Unknown, Act::Network),
            Owner::Monitor(_) => return Act::Rest { blocked: false },
        };
        let mut deliver = None;
        let mut creates = false;
        match local.status {
            Status::Halted => return Act::Rest { blocked: false },
            Status::Blocked { .. } => return Act::Rest { blocked: true },
            Status::Idle if !self.exe.states[local.control].has_null => {
                return Act::Rest { blocked: false };
            }
            Status::Pending(Pending::Fault(ref fault)) => {
                let kind = fault.kind;
                self.note_fault(kind);
                return Act::Fault;
            }
            Status::Pending(Pending::Foreign { fun }) => {
                let name = self.exe.function_name(fun).to_owned();
                return Act::Unknown(StopReason::ForeignFunction { name });
            }
            Status::Pending(Pending::Deliver { target, message }) if target != machine => {
                deliver = Some((target, message));
            }
            Status::Pending(Pending::Create { .. }) => creates = true,
            Status::Idle | Status::Pending(Pending::Deliver { .. } | Pending::Observe | Pending::Start) => {}
        }
        let is_delayed = self.exe.network.is_delayed();
        let deliver = deliver.map(|(target, message)| {
            let message = self.message(message);
            match is_delayed {
                false => (self.slot(Owner::Machine(target)), message),
                true => {
                    let op = self.network_op(NetworkOp::Send { source: machine, target, message });
                    (self.network_slot(target), op)
                }
            }
        });
        let interface = self.states[id.index()].local.interface;
        let local = &self.states[id.index()].local;
        let birth = match local.status {
            Status::Pending(Pending::Create { payload, .. }) => Some(payload),
            _ => None,
        };
        let first = self.kernel.step_alone(machine, local, &mut self.recorder);
        let newborn = first.created.map(|child| (child, self.kernel.configuration().local(child).clone()));
        if let Some((child, local)) = &newborn {
            self.meet(*child, local.interface);
        }
        let own = match self.ways(id, machine, Some(interface), first) {
            Ok(own) => own,
            Err(reason) => return Act::Unknown(reason),
        };
        let Some(((child, local), payload)) = newborn.zip(birth) else {
            let outcomes = own.iter().map(|way| way.outcome(None)).collect();
            return Act::Step { deliver, creates, outcomes };
        };
        let first = self.kernel.begin_alone(child, &local, payload, &mut self.recorder);
        let births = match self.ways(id, child, None, first) {
            Ok(births) => births,
            Err(reason) => return Act::Unknown(reason),
        };
        let slot = self.slot(Owner::Machine(child));
        let birth = (self.exe.network.model == NetworkModel::Causal).then(|| {
            let op = self.network_op(NetworkOp::Create { creator: machine, created: child });
            (self.network_slot(child), op)
        });
        let mut outcomes = Vec::new();
        let mut look_at = LOOK_AFTER;
        for way in &own {
            // Together they may have millions.
            if outcomes.len() >= look_at {
                look_at = outcomes.len() + LOOK_AFTER;
                if let Some(reason) = self.must_stop_within() {
                    return Act::Unknown(reason);
                }
            }
            // After a fault of the creator nothing happens any more.
            if !matches!(way.end, Ending::Stands(_)) {
                outcomes.push(way.outcome(None));
                continue;
            }
            outcomes.extend(
                births.iter().map(|child| LocalOutcome { birth, ..way.outcome(Some((slot, child))) }),
            );
        }
        Act::Step { deliver, creates, outcomes }
    }

    /// What a machine that stands before a send to itself does after it, if the message goes elsewhere.
    pub fn act_undelivered(&mut self, id: LocalStateId) -> Result<Vec<LocalOutcome>, StopReason> {
        let LocalState { local, owner, .. } = &self.states[id.index()];
        let Owner::Machine(machine) = *owner else { return Ok(Vec::new()) };
        let interface = local.interface;
        let first = self.kernel.step_undelivered_alone(machine, local, &mut self.recorder);
        let own = self.ways(id, machine, Some(interface), first)?;
        Ok(own.iter().map(|way| way.outcome(None)).collect())
    }

    /// How many copies of a message may reach its target when it is sent.
    pub fn fates(&self, message: InputId) -> Vec<u32> {
        match self.exe.network.is_delayed() {
            true => vec![1],
            false => self.exe.network.fates(self.messages[message.index()].event).to_vec(),
        }
    }

    /// What a machine that can take nothing from its inbox does with one more message.
    pub fn take_next(&mut self, id: LocalStateId, message: Message) -> Vec<Delivered> {
        let Owner::Machine(machine) = self.states[id.index()].owner else { return Vec::new() };
        let local = &self.states[id.index()].local;
        let first = self.kernel.deliver_alone(machine, local, message, 1, &mut self.recorder);
        let delivered =
            |way: Branch| Delivered { end: way.end, answers: way.answers.to_vec(), touched: way.touched };
        match self.ways(id, machine, None, first) {
            Ok(ways) => ways.into_iter().map(delivered).collect(),
            Err(reason) => {
                let (end, touched) = (Ending::Unknown(reason), Touched::default());
                vec![Delivered { end, answers: Vec::new(), touched }]
            }
        }
    }

    /// What a machine does when a message reaches it, cached.
    pub fn known_delivery(&mut self, id: LocalStateId, message: InputId) -> Arc<Vec<Delivered>> {
        if let Some(delivered) = self.deliveries.get(&(id, message)) {
            return delivered.clone();
        }
        let delivered = Arc::new(self.compute_delivery(id, message));
        self.deliveries.insert((id, message), delivered.clone());
        delivered
    }

    /// What a machine does when a message reaches it.
    pub fn deliver(&mut self, id: LocalStateId, message: InputId) -> Vec<Delivered> {
        if let Some(reason) = self.must_stop() {
            return vec![Delivered::unknown(reason)];
        }
        self.compute_delivery(id, message)
    }

    fn compute_delivery(&mut self, id: LocalStateId, message: InputId) -> Vec<Delivered> {
        let machine = match self.states[id.index()].owner {
            Owner::Machine(machine) => machine,
            Owner::Network(_) => return self.work_out_network_op(id, message),
            Owner::Monitor(_) => return Vec::new(),
        };
        let message = self.messages[message.index()];
        // Over a network that delays, what becomes of a message was decided when it was handed over.
        let fates = if self.exe.network.is_delayed() { &[1] } else { self.exe.network.fates(message.event) };
        let mut delivered = Vec::new();
        for (answer, &n_copies) in fates.iter().enumerate() {
            let fate = fate_answer(machine, fates.len(), answer);
            let local = &self.states[id.index()].local;
            let first = self.kernel.deliver_alone(machine, local, message, n_copies, &mut self.recorder);
            match self.ways(id, machine, None, first) {
                Ok(ways) => delivered.extend(ways.into_iter().map(|way| {
                    let answers = fate.into_iter().chain(way.answers.iter().copied()).collect();
                    Delivered { end: way.end, answers, touched: way.touched }
                })),
                Err(reason) => return vec![Delivered::unknown(reason)],
            }
        }
        delivered
    }

    /// Continues from where the kernel has brought a machine, at each data choice with every answer, in lexicographic
    /// order. Branches that reach the same local state are merged into the first of them, unless answers count. The number of
    /// instructions is ignored there: a handler that asks again and again may take any number of them, and that it can exceed the limit
    /// says nothing about the program. A handler that loops on every choice is run up to the limit and then reported as endless.
    ///
    /// `id` is the local state to record if a bound leaves out answers.
    fn ways(
        &mut self,
        id: LocalStateId,
        machine: InstanceId,
        interface: Option<InterfaceId>,
        first: Alone,
    ) -> Result<Vec<Branch>, StopReason> {
        let owner = Owner::Machine(machine);
        let mut found: Vec<Branch> = Vec::new();
        let mut known: FxHashMap<Box<[u64]>, u32> = FxHashMap::default();
        // Choices on the present path, with the next answer to try.
        let mut open: Vec<(Fork, u32)> = Vec::new();
        let mut joins = Joins::default();
        // The first choice, when all of its answers were tried.
        let mut root: Option<Fork> = None;
        let mut now = Some((first, Vec::new(), Vec::new()));
        let mut n_runs = 0;
        loop {
            if let Some((alone, mut observed, answers)) = now.take() {
                for message in alone.observed {
                    let number = self.message(message);
                    let exe = self.exe.clone();
                    if let Some(interface) = interface {
                        let monitors = exe.observers(interface, message.event).iter();
                        observed.extend(monitors.map(|&monitor| (Slot::from_u32(monitor), number)));
                    }
                }
                match alone.paused {
                    Some(paused) => {
                        self.meet_choice(machine, paused.point);
                        let from = open.last().map(|(fork, _)| fork.number);
                        let number = match self.keep_answers {
                            true => None,
                            false => {
                                let next = known.len() as u32;
                                let key = self.pause_key(machine, &paused, &observed);
                                let number = *known.entry(key).or_insert(next);
                                let answer = answers.last().map_or(0, |answer: &Answer| answer.answer);
                                joins.add(from, answer, number, number < next);
                                (number < next).then_some(number)
                            }
                        };
                        if number.is_none() {
                            let number = known.len().saturating_sub(1) as u32;
                            let local = self.kernel.configuration().local(machine).clone();
                            open.push((Fork { number, local, paused, observed, answers }, 0));
                        }
                    }
                    None => {
                        joins.end(open.last().map(|(fork, _)| fork.number));
                        let end = self.ending(owner);
                        let touched = self.touched_before(owner, &end);
                        let is_known = !self.keep_answers
                            && found.iter().rev().take(64).any(|way| {
                                way.end == end && *way.observed == observed[..] && way.touched == touched
                            });
                        if !is_known {
                            let (answers, observed) = (shared(answers), shared(observed));
                            found.push(Branch { end, answers, observed, touched });
                        }
                    }
                }
            }
            let Some((fork, next)) = open.last_mut() else {
                if let Some((root, choice)) = root.zip(joins.endless(known.len())) {
                    found.push(self.follow(root, &joins.way_to(choice), interface)?);
                }
                return Ok(found);
            };
            let possible = Answers::to(fork.paused.point, self.max_choices, self.data.as_deref());
            if possible.is_bounded() {
                self.bounded.insert(id);
            }
            if *next == possible.n {
                root = open.pop().map(|(fork, _)| fork);
                continue;
            }
            n_runs += 1;
            if n_runs > MAX_RESOLUTIONS {
                return Err(self.too_many(machine));
            }
            if open.len() > MAX_IN_A_ROW {
                return Err(self.too_many_in_a_row(machine));
            }
            let Some((fork, next)) = open.last_mut() else { continue };
            // A run may take milliseconds.
            if n_runs % 8 == 0
                && let Some(reason) = self.must_stop_within()
            {
                return Err(reason);
            }
            let answer = possible.at(*next);
            *next += 1;
            let mut answers = fork.answers.clone();
            answers.push(Answer { point: fork.paused.point, answer });
            let alone = self.kernel.resume_alone(&fork.local, &fork.paused, answer, &mut self.recorder);
            now = Some((alone, fork.observed.clone(), answers));
        }
    }

    /// The machine stands where its choices are made, or a little further.
    fn too_many(&self, machine: InstanceId) -> StopReason {
        let local = self.kernel.configuration().local(machine);
        let (name, state) = (self.exe.machine_name(local.machine), self.exe.state_name(local.control));
        StopReason::Undecided {
            why: format!(
                "one step of `{name}` has more than {MAX_RESOLUTIONS} combinations of choices (in state \
                 `{state}`); `--max-choices N` explores N answers of each; `allways check` tests it as it is"
            ),
        }
    }

    fn too_many_in_a_row(&self, machine: InstanceId) -> StopReason {
        let local = self.kernel.configuration().local(machine);
        let (name, state) = (self.exe.machine_name(local.machine), self.exe.state_name(local.control));
        StopReason::Undecided {
            why: format!(
                "`{name}` can make more than {MAX_IN_A_ROW} choices in one step (in state `{state}`); `allways check` \
                 tests it as it is"
            ),
        }
    }

    /// From the first choice by these answers, and then on by the first answers, to where the kernel ends it.
    fn follow(
        &mut self,
        root: Fork,
        answers: &[u32],
        interface: Option<InterfaceId>,
    ) -> Result<Branch, StopReason> {
        let Fork { mut local, mut paused, mut observed, answers: mut given, .. } = root;
        let machine = paused.point.machine;
        let exe = self.exe.clone();
        for n_runs in 0.. {
            if n_runs % LOOK_AFTER == LOOK_AFTER - 1
                && let Some(reason) = self.must_stop_within()
            {
                return Err(reason);
            }
            let answer = answers.get(n_runs).copied().unwrap_or(0);
            given.push(Answer { point: paused.point, answer });
            let alone = self.kernel.resume_alone(&local, &paused, answer, &mut self.recorder);
            for message in alone.observed {
                let number = self.message(message);
                if let Some(interface) = interface {
                    let monitors = exe.observers(interface, message.event).iter();
                    observed.extend(monitors.map(|&monitor| (Slot::from_u32(monitor), number)));
                }
            }
            match alone.paused {
                Some(next) => {
                    paused = next;
                    local.clone_from(self.kernel.configuration().local(machine));
                }
                None => break,
            }
        }
        let end = self.ending(Owner::Machine(machine));
        let touched = self.touched_before(Owner::Machine(machine), &end);
        Ok(Branch { end, answers: shared(given), observed: shared(observed), touched })
    }

    /// All that decides what comes after a pause.
    fn pause_key(&self, machine: InstanceId, paused: &Paused, observed: &[(Slot, InputId)]) -> Box<[u64]> {
        let mut key = Vec::with_capacity(64);
        key.push(u64::from(paused.own) << 32 | observed.len() as u64);
        key.extend(
            observed
                .iter()
                .map(|&(slot, message)| u64::from(slot.as_u32()) << 32 | u64::from(message.as_u32())),
        );
        let local = self.kernel.configuration().local(machine);
        if self.records_touched {
            key.extend([local.touched.reads, local.touched.writes]);
        }
        match self.simplify.dead_variables {
            true => live_words(&self.exe, local, &mut key),
            false => words(local, &mut key),
        }
        key.into()
    }

    /// What a monitor does with a message that it watches.
    pub fn observe(&mut self, id: LocalStateId, message: InputId) -> Heard {
        let owner = self.states[id.index()].owner;
        let touched = Touched::default();
        let Owner::Monitor(monitor) = owner else {
            return Heard { end: Ending::Stands(id), hot: false, cold: false, touched };
        };
        if let Some(reason) = self.must_stop() {
            return Heard { end: Ending::Unknown(reason), hot: false, cold: false, touched };
        }
        let message = self.messages[message.index()];
        let local = &self.states[id.index()].local;
        (self.recorder.hot, self.recorder.cold) = (false, false);
        // The kernel notes this before it runs the monitor.
        let layout = self.recorder.coverage.layout;
        self.recorder.coverage.cover(layout.handled(local.control, message.event));
        self.kernel.observe_alone(monitor, local, message, &mut self.recorder);
        let (hot, cold) = (self.recorder.hot, self.recorder.cold);
        let end = self.ending(owner);
        let touched = self.touched_before(owner, &end);
        Heard { end, hot, cold, touched }
    }

    /// Makes the first step, which starts the monitors and the main machine, with all its outcomes.
    pub fn begin(&mut self) -> Beginning {
        let mut beginning =
            Beginning { vectors: Vec::new(), n_transitions: 0, violations: Vec::new(), unknown: None };
        // Not by a reset, which may forget values that local states have.
        let start = self.start.clone();
        self.kernel.restore(&start);
        let main = self.kernel.configuration().local(InstanceId::MAIN).clone();
        self.kernel.start_monitors_alone(&mut self.recorder);
        match self.kernel.outcome() {
            Outcome::Running | Outcome::Quiescent => {}
            Outcome::Violated(found) => {
                let kind = found.kind;
                self.note_fault(kind);
                beginning.violations.push(Vec::new());
                return beginning;
            }
            Outcome::Unknown(reason) => {
                beginning.unknown = Some(reason.clone());
                return beginning;
            }
        }
        let owners: Vec<Owner> = (0..self.n_monitors() as u32).map(Owner::Monitor).collect();
        let monitors: Vec<LocalStateId> = owners.into_iter().map(|owner| self.intern(owner)).collect();
        let first = self.kernel.step_alone(InstanceId::MAIN, &main, &mut self.recorder);
        let ways = match self.ways(LocalStateId::ABSENT, InstanceId::MAIN, Some(main.interface), first) {
            Ok(ways) => ways,
            Err(reason) => {
                beginning.unknown = Some(reason);
                return beginning;
            }
        };
        let slot = self.slot(Owner::Machine(InstanceId::MAIN)).index();
        for way in ways {
            beginning.n_transitions += 1;
            let answers: Vec<u32> = way.answers.iter().map(|answer| answer.answer).collect();
            let mut vector = monitors.clone();
            let mut end = way.end;
            for &(monitor, message) in way.observed.iter() {
                match self.observe(vector[monitor.index()], message).end {
                    Ending::Stands(id) => vector[monitor.index()] = id,
                    other => {
                        end = other;
                        break;
                    }
                }
            }
            match end {
                Ending::Stands(id) => {
                    vector.resize(slot + 1, LocalStateId::ABSENT);
                    vector[slot] = id;
                    if !beginning.vectors.iter().any(|(_, known)| *known == vector) {
                        beginning.vectors.push((answers, vector));
                    }
                }
                Ending::Fault(..) => beginning.violations.push(answers),
                Ending::Cut(cut) => self.cut_at_beginning = Some(cut),
                Ending::Unknown(reason) => {
                    beginning.unknown.get_or_insert(reason);
                }
            }
        }
        beginning
    }
}

/// A run of whole steps, on the kernel of the local states.
pub(crate) struct Walk {
    at: Snapshot,
}

/// Answers of a machine in a step, and of the other machines that choose in it.
struct Parts {
    own: Vec<Arc<[Answer]>>,
    others: Vec<Arc<[Answer]>>,
}

/// Where a step of a walk leads.
pub(crate) struct Walked {
    pub answers: Vec<u32>,
    pub outcome: Outcome,
    pub walk: Walk,
}

impl LocalStates<'_> {
    /// Before the first step.
    pub fn walk(&self) -> Walk {
        Walk { at: self.start.clone() }
    }

    /// Has the kernel stand where a run does.
    pub fn stand_at(&mut self, walk: &Walk) {
        self.kernel.restore(&walk.at);
    }

    /// How many machines a machine has made, where the kernel stands.
    pub fn n_children(&self, machine: InstanceId) -> u32 {
        self.kernel.configuration().local(machine).n_children
    }

    /// The first step of a machine, answers in the order of its parts, that leads where `is_it` says: to an outcome, with
    /// all machines standing like that.
    pub fn walk_on(
        &mut self,
        walk: &Walk,
        machine: InstanceId,
        mut is_it: impl FnMut(&mut Self, &Outcome, &[LocalStateId]) -> bool,
    ) -> Option<Walked> {
        if let Some(Parts { own, others }) = self.parts(walk, machine) {
            for own in &own {
                for other in &others {
                    let answers: Vec<u32> = own.iter().chain(other.iter()).map(|it| it.answer).collect();
                    let mut given = Given { answers: &answers, at: 0 };
                    let (outcome, vector, at) = self.whole_step(walk, machine, &mut given)?;
                    if is_it(self, &outcome, &vector) {
                        // What comes behind them was answered with zero.
                        let n_given = given.at;
                        let mut answers = answers;
                        answers.resize(n_given, 0);
                        return Some(Walked { answers, outcome, walk: Walk { at } });
                    }
                }
            }
            return None;
        }
        let mut script = Script::bounded(self.max_choices, self.data.clone());
        loop {
            let (outcome, vector, at) = self.whole_step(walk, machine, &mut script)?;
            if is_it(self, &outcome, &vector) {
                let answers = script.given().collect();
                return Some(Walked { answers, outcome, walk: Walk { at } });
            }
            if !script.advance() {
                return None;
            }
        }
    }

    /// The answers of a machine in its next step, and of the machine that is created or gets a message in it, in all combinations that lead
    /// elsewhere: from how they stand in the run, not from local states, which leave out what no code reads. None over other
    /// networks than P's own, or where there are too many outcomes.
    fn parts(&mut self, walk: &Walk, machine: InstanceId) -> Option<Parts> {
        if !self.exe.network.is_default() {
            return None;
        }
        let answers = |ways: Vec<Branch>| ways.into_iter().map(|way| way.answers).collect();
        self.kernel.restore(&walk.at);
        let local = self.kernel.configuration().local(machine).clone();
        let interface = local.interface;
        let mut receiver = None;
        let mut birth = None;
        match local.status {
            Status::Pending(Pending::Deliver { target, message }) if target != machine => {
                receiver = Some((target, self.kernel.configuration().local(target).clone(), message));
            }
            Status::Pending(Pending::Create { payload, .. }) => birth = Some(payload),
            Status::Pending(Pending::Start) => return None,
            _ => {}
        }
        let first = self.kernel.step_alone(machine, &local, &mut self.recorder);
        let newborn = first.created.map(|child| (child, self.kernel.configuration().local(child).clone()));
        if let Some((child, local)) = &newborn {
            self.meet(*child, local.interface);
        }
        let own = answers(self.ways(LocalStateId::ABSENT, machine, Some(interface), first).ok()?);
        let others = match (receiver, newborn.zip(birth)) {
            (Some((target, local, message)), _) => {
                let first = self.kernel.deliver_alone(target, &local, message, 1, &mut self.recorder);
                answers(self.ways(LocalStateId::ABSENT, target, None, first).ok()?)
            }
            (None, Some(((child, local), payload))) => {
                let first = self.kernel.begin_alone(child, &local, payload, &mut self.recorder);
                answers(self.ways(LocalStateId::ABSENT, child, None, first).ok()?)
            }
            (None, None) => vec![Arc::default()],
        };
        Some(Parts { own, others })
    }

    /// Makes a step of a run with such answers; returns where it leads, as local states.
    fn whole_step<O: Oracle>(
        &mut self,
        walk: &Walk,
        machine: InstanceId,
        oracle: &mut O,
    ) -> Option<(Outcome, Vec<LocalStateId>, Snapshot)> {
        self.kernel.restore(&walk.at);
        self.kernel.step(machine, oracle, &mut Silent).ok()?;
        let at = self.kernel.save();
        let outcome = self.kernel.outcome().clone();
        let mut vector = vec![LocalStateId::ABSENT; self.n_monitors()];
        for monitor in 0..self.n_monitors() as u32 {
            vector[monitor as usize] = self.intern(Owner::Monitor(monitor));
        }
        let machines: Vec<InstanceId> = self.kernel.configuration().roster.iter().collect();
        for instance in machines {
            let slot = self.slot(Owner::Machine(instance)).index();
            if vector.len() <= slot {
                vector.resize(slot + 1, LocalStateId::ABSENT);
            }
            vector[slot] = self.intern(Owner::Machine(instance));
        }
        Some((outcome, vector, at))
    }
}

//! Readings: what is read of a block from its first part down, runs of handlers on what was read, and what they write.

use allways_base::Idx;
use allways_machine::{Local, Pending, Status, Touched, rules};
use allways_mdd::{BlockStep, Halt};

use super::{ANY_CONTROL, Branch, BranchEnd, CONTROL, EMPTY, FIELDS, KEEPS, Reading, ReadingState, Taken};
use crate::search::context::Cuts;
use crate::search::local::states::{Act, Ending, InputId, LocalStateId, LocalStates, Owner};
use crate::symbolic::steps::{ABSENT, Action, BROKEN, MemoSteps};
use rules::must_wait;

impl MemoSteps<'_> {
    pub(crate) fn enter_block(&mut self, slot: u32, action: Option<u32>, value: u32) -> Option<u32> {
        if let Some(&known) = self.blocks.entered.get(&(slot, action, value)) {
            return known;
        }
        let reading = self.begin_reading(slot, action, value);
        self.blocks.entered.insert((slot, action, value), reading);
        reading
    }

    pub(super) fn begin_reading(&mut self, slot: u32, action: Option<u32>, value: u32) -> Option<u32> {
        let is_creation =
            action.is_some_and(|action| matches!(self.actions[action as usize], Action::Create(_)));
        if value == BROKEN || (value == ABSENT) != is_creation {
            return None;
        }
        if action.is_none() && !self.block_can_step(slot, value) {
            return None;
        }
        if let Some(action) = action
            && let Action::Deliver(message) = self.actions[action as usize]
        {
            let locals = self.expander.memo.locals();
            let event = locals.messages[message.index()].event;
            let waits =
                self.blocks.control(slot, value).is_some_and(|local| must_wait(&locals.exe, local, event));
            let fates = locals.fates(message);
            drop(locals);
            if waits {
                // A machine that is about to fail has no inbox any more.
                let waiting = self.waiting(slot, message, value);
                let branches = fates.iter().map(|&n_copies| Branch {
                    tail: waiting.map_or_else(Vec::new, |waiting| vec![waiting; n_copies as usize]),
                    ..Branch::new(BranchEnd::Same, None, 0, false)
                });
                let state = ReadingState::Runs(branches.collect());
                let action = Some(action);
                let reading = Reading { slot, action, control: ANY_CONTROL, reads: 0, state };
                return Some(self.blocks.reading(reading));
            }
        }
        let known = self.blocks.blocks.get(&slot).and_then(|block| block.known_reads.get(&(action, value)));
        let reads = known.copied().unwrap_or(0);
        let state = ReadingState::Fields(Vec::new());
        Some(self.blocks.reading(Reading { slot, action, control: value, reads, state }))
    }

    pub(crate) fn read_block(&mut self, reading: u32, part: u32, value: u32) -> Result<Option<u32>, Halt> {
        let Reading { slot, control, reads, ref state, .. } = self.blocks.readings[reading as usize];
        // Of a machine that is created there is nothing to read.
        if control == ABSENT {
            return Ok(Some(reading));
        }
        let Some(block) = self.blocks.blocks.get(&slot) else { return Ok(None) };
        if part < block.positions() {
            let is_read = matches!(state, ReadingState::Fields(_)) && reads >> (part - FIELDS) & 1 == 1;
            if !is_read {
                return Ok(Some(reading));
            }
        } else if let ReadingState::Runs(branches) = state
            && branches.iter().all(Branch::is_settled)
        {
            return Ok(Some(reading));
        }
        if let Some(&known) = self.blocks.next.get(&(reading, part, value)) {
            return Ok(known);
        }
        self.poll()?;
        let now = self.blocks.readings[reading as usize].clone();
        let is_field = part < self.blocks.blocks[&slot].positions();
        let next = match now.state {
            ReadingState::Fields(ref read) if is_field => {
                let mut read = read.clone();
                read.push((part, value));
                Some(ReadingState::Fields(read))
            }
            ReadingState::Fields(ref read) => match self.run(&now, read)? {
                Some(branches) => self.see(&now, &branches, part, value).map(ReadingState::Runs),
                None => None,
            },
            ReadingState::Runs(ref branches) => self.see(&now, branches, part, value).map(ReadingState::Runs),
        };
        let next = next.map(|state| self.blocks.reading(Reading { state, ..now }));
        self.blocks.next.insert((reading, part, value), next);
        Ok(next)
    }

    /// Runs what a reading is about with an empty inbox; `None` if more has to be read.
    pub(super) fn run(
        &mut self,
        reading: &Reading,
        read: &[(u32, u32)],
    ) -> Result<Option<Vec<Branch>>, Halt> {
        let Some(values) = self.blocks.blocks.get(&reading.slot).and_then(|block| {
            let mut values = block.examples.get(reading.control as usize)?.to_vec();
            read.iter().for_each(|&(part, value)| values[part as usize] = value);
            Some(values)
        }) else {
            return Ok(Some(Vec::new()));
        };
        let Some((owner, mut local)) = self.blocks.local_without_inbox(reading.slot, &values) else {
            return Ok(Some(Vec::new()));
        };
        let id = self.expander.memo.locals().intern_local(owner, &mut local, false);
        self.blocks.n_runs += 1;
        match reading.action.map(|action| self.actions[action as usize].clone()) {
            None => Ok(self.run_own(reading, id)),
            Some(Action::Deliver(message)) => {
                let (fates, given) = {
                    let locals = self.expander.memo.locals();
                    (locals.fates(message), locals.messages[message.index()])
                };
                let mut branches = Vec::new();
                for n_copies in fates {
                    if n_copies == 0 {
                        branches.push(Branch::new(BranchEnd::Same, None, 0, false));
                        continue;
                    }
                    let taken = self.take(id, given);
                    if self.blocks.reads_more(reading, all_reads(&taken)) {
                        return Ok(None);
                    }
                    let tail = match n_copies {
                        1 => Vec::new(),
                        n => match self.waiting(reading.slot, message, reading.control) {
                            Some(value) => vec![value; n as usize - 1],
                            None => Vec::new(),
                        },
                    };
                    let locals = self.expander.memo.locals();
                    // Whoever ignores a message ignores its copy.
                    let arrival = rules::arrival(&locals.exe, locals.local(id), given.event);
                    let drops = matches!(arrival, rules::Arrival::Dropped | rules::Arrival::Ignored);
                    branches.extend(taken.iter().map(|one| {
                        let branch = self.first_branch(&locals, id, *one, None);
                        if drops || tail.is_empty() {
                            return branch;
                        }
                        // The copies come after it, and may be handled at once.
                        let waits =
                            matches!(branch.end, BranchEnd::Stands(after) if is_waiting(locals.local(after)));
                        Branch { tail: tail.clone(), looks: waits, ..branch }
                    }));
                }
                Ok(Some(branches))
            }
            Some(Action::Observe(messages)) => Ok(self.run_monitor(reading, id, &messages)),
            // Crashes, bounds and filters come without blocks, creations run nothing.
            Some(
                Action::Probe(_)
                | Action::Create(_)
                | Action::NoteCreation(_)
                | Action::CanStep
                | Action::Unless(_),
            ) => Ok(Some(Vec::new())),
        }
    }

    /// What a run from a local state has come to.
    pub(super) fn first_branch(
        &self,
        locals: &LocalStates<'_>,
        before: LocalStateId,
        taken: Taken,
        event: Option<u32>,
    ) -> Branch {
        let BranchEnd::Stands(after) = taken.end else { return Branch::new(taken.end, event, 0, false) };
        let (before, after) = (locals.local(before), locals.local(after));
        let writes = written(before, after, taken.touched);
        Branch::new(taken.end, event, writes, looks(before, after))
    }

    pub(super) fn run_monitor(
        &mut self,
        reading: &Reading,
        id: LocalStateId,
        messages: &[InputId],
    ) -> Option<Vec<Branch>> {
        let (mut at, mut touched) = (id, Touched::default());
        let mut end = BranchEnd::Stands(id);
        for &message in messages {
            let heard = self.expander.memo.locals().observe(at, message);
            touched = touched.then(heard.touched);
            end = self.blocks.end(heard.end);
            match end {
                BranchEnd::Stands(after) => at = after,
                _ => break,
            }
        }
        if self.blocks.reads_more(reading, touched.reads & !KEEPS) {
            return None;
        }
        let locals = self.expander.memo.locals();
        Some(vec![Branch { looks: false, ..self.first_branch(&locals, id, Taken { end, touched }, None) }])
    }

    /// The outcomes of a machine's own part of a step.
    pub(super) fn run_own(&mut self, reading: &Reading, id: LocalStateId) -> Option<Vec<Branch>> {
        let (act, sent) = {
            let mut locals = self.expander.memo.locals();
            let local = locals.local(id);
            let sent = match (local.status, locals.owner_of(id)) {
                (Status::Pending(Pending::Deliver { target, message }), Owner::Machine(machine))
                    if target == machine =>
                {
                    Some(message)
                }
                _ => None,
            };
            // The message goes behind all others.
            let act = match sent {
                None => locals.act(id),
                Some(_) => match locals.act_undelivered(id) {
                    Ok(outcomes) => Act::Step { deliver: None, creates: false, outcomes },
                    Err(reason) => Act::Unknown(reason),
                },
            };
            (act, sent)
        };
        let tail = match sent {
            None => Vec::new(),
            Some(message) => {
                let message = self.expander.memo.locals().message(message);
                vec![self.waiting(reading.slot, message, reading.control)?]
            }
        };
        let (deliver, outcomes) = match act {
            Act::Rest { .. } | Act::Network(_) => return Some(Vec::new()),
            Act::Fault => {
                let event = Some(self.blocks.event(Vec::new()));
                return Some(vec![Branch::new(BranchEnd::Fault, event, 0, false)]);
            }
            Act::Unknown(reason) => {
                let end = self.blocks.end(Ending::Unknown(reason));
                let event = Some(self.blocks.event(Vec::new()));
                return Some(vec![Branch::new(end, event, 0, false)]);
            }
            Act::Step { deliver, outcomes, .. } => (deliver, outcomes),
        };
        let reads = outcomes.iter().fold(0, |reads, outcome| reads | outcome.touched.reads & !KEEPS);
        if self.blocks.reads_more(reading, reads) {
            return None;
        }
        let mut branches = Vec::new();
        for outcome in outcomes {
            let mut parties = Vec::new();
            if let Some((target, message)) = deliver {
                parties.push((target.as_u32(), self.action(Action::Deliver(message))));
            }
            let stands = matches!(outcome.end, Ending::Stands(_));
            self.add_observers(&outcome.observed, Action::Observe, &mut parties);
            if let (true, Some((created, id))) = (stands, outcome.created) {
                parties.push((created.as_u32(), self.action(Action::Create(id))));
            }
            if let (true, Some((network, operation))) = (stands, outcome.birth) {
                parties.push((network.as_u32(), self.action(Action::NoteCreation(operation))));
            }
            let event = Some(self.blocks.event(parties));
            let end = self.blocks.end(outcome.end);
            let locals = self.expander.memo.locals();
            let branch = self.first_branch(&locals, id, Taken { end, touched: outcome.touched }, event);
            branches.push(Branch { tail: tail.clone(), ..branch });
        }
        Some(branches)
    }

    pub(crate) fn finish_block(&mut self, number: u32, found: &mut Vec<BlockStep>) -> Result<bool, Halt> {
        let reading = self.blocks.readings[number as usize].clone();
        let slot = reading.slot;
        if let Some(action) = reading.action
            && let Action::Create(id) = self.actions[action as usize]
        {
            let values = self.values_of_parts(slot, id);
            self.poll()?;
            let writes = values.iter().enumerate().map(|(part, &value)| (part as u32, value)).collect();
            found.push(BlockStep { event: None, writes, removes: Vec::new() });
            return Ok(true);
        }
        let branches = match &reading.state {
            ReadingState::Runs(branches) => branches.clone(),
            ReadingState::Fields(read) => match self.run(&reading, read)? {
                Some(branches) => branches.into(),
                None => return Ok(false),
            },
        };
        let n_parts = self.blocks.n_parts(slot);
        for branch in branches.iter() {
            // Every position is full: the rest of the inbox is not there.
            if !branch.tail.is_empty() || branch.appended.iter().any(|&(part, _)| part >= n_parts) {
                self.blocks.wish(slot);
                return Err(Halt::Stopped);
            }
            let event = branch.event.map(|event| (0, self.blocks.events[event as usize].clone()));
            let (writes, removes) = match branch.end {
                BranchEnd::Same => (branch.appended.clone(), Vec::new()),
                BranchEnd::Stands(id) => self.writes(slot, branch, id),
                BranchEnd::Fault if reading.action.is_none_or(|action| self.is_observed(action)) => {
                    self.break_property()?;
                    (vec![(CONTROL, BROKEN)], Vec::new())
                }
                BranchEnd::Fault => continue,
                BranchEnd::Unknown(reason) => {
                    let reason = self.blocks.unknowns[reason as usize].clone();
                    self.expander.memo.unknown.get_or_insert(reason);
                    continue;
                }
                BranchEnd::Cut(cut) => {
                    let cut = self.blocks.cuts[cut as usize];
                    Cuts::add(&mut self.cuts, cut);
                    continue;
                }
            };
            if let Some(&(last, _)) = branch.appended.last() {
                let first = self.blocks.blocks[&slot].positions();
                let n_left = (last + 1 - first) as usize - branch.removed.len().min((last - first) as usize);
                self.expander.memo.locals().note_inbox(n_left);
            }
            found.push(BlockStep { event, writes, removes });
        }
        Ok(true)
    }

    pub(super) fn is_observed(&self, action: u32) -> bool {
        matches!(self.actions[action as usize], Action::Observe(_))
    }

    /// What a step writes, and which positions it takes out.
    pub(super) fn writes(
        &mut self,
        slot: u32,
        branch: &Branch,
        id: LocalStateId,
    ) -> (Vec<(u32, u32)>, Vec<u32>) {
        let locals = self.expander.memo.locals();
        let local = locals.local(id);
        let after = self.blocks.values_without_inbox(slot, local);
        let is_all = has_nothing(local);
        drop(locals);
        let mut writes: Vec<(u32, u32)> = after
            .iter()
            .enumerate()
            .filter(|&(part, _)| part == 0 || is_all || branch.writes >> (part - 1) & 1 == 1)
            .map(|(part, &value)| (part as u32, value))
            .collect();
        if is_all {
            let n_parts = self.blocks.n_parts(slot);
            writes.extend((after.len() as u32..n_parts).map(|part| (part, EMPTY)));
            return (writes, Vec::new());
        }
        writes.extend(&branch.appended);
        (writes, branch.removed.clone())
    }
}

/// Fields that a step writes, as bits: those that the kernel says, and all that differ. Whoever halts or is about to fail keeps nothing.
pub(super) fn written(before: &Local, after: &Local, touched: Touched) -> u64 {
    let mut writes = touched.writes;
    for (at, value) in before.registers.iter().enumerate().take(Touched::MAX_FIELDS) {
        if after.registers.get(at) != Some(value) {
            writes |= 1 << at;
        }
    }
    writes & !KEEPS
}

pub(super) fn has_nothing(local: &Local) -> bool {
    matches!(local.status, Status::Halted | Status::Pending(Pending::Fault(_)))
}

/// Whether a machine that stood so, and stands so now, has looked into its inbox and may find something. Who had nothing to take in the
/// same place before has nothing now.
pub(super) fn looks(before: &Local, after: &Local) -> bool {
    is_waiting(after) && (before.status != after.status || before.control != after.control)
}

fn is_waiting(local: &Local) -> bool {
    matches!(local.status, Status::Idle | Status::Blocked { .. })
}

/// The fields that some outcome has read.
pub(super) fn all_reads(taken: &[Taken]) -> u64 {
    taken.iter().fold(0, |reads, one| reads | one.touched.reads & !KEEPS)
}

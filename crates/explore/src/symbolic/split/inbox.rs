//! The inbox of a block: what becomes of runs that look into it, position by position.

use std::rc::Rc;

use allways_base::Idx;
use allways_machine::rules::must_wait;
use allways_machine::{Message, Status};

use super::reading::{all_reads, has_nothing, written};
use super::{Branch, BranchEnd, EMPTY, KEEPS, Reading, Taken, message_key};
use crate::search::local::states::{InputId, LocalStateId};
use crate::symbolic::steps::MemoSteps;

impl MemoSteps<'_> {
    /// The value that a message has in an inbox: what nothing reads of it is left out.
    pub(super) fn waiting(&mut self, slot: u32, message: InputId, control: u32) -> Option<u32> {
        if let Some(&known) = self.blocks.waiting.get(&(slot, message)) {
            return Some(known);
        }
        let values = self.blocks.blocks.get(&slot)?.examples.get(control as usize)?.clone();
        let (owner, mut local) = self.blocks.local_without_inbox(slot, &values)?;
        let mut locals = self.expander.memo.locals();
        local.inbox.push_back(locals.messages[message.index()]);
        let id = locals.intern_local(owner, &mut local, false);
        let message_there = *locals.local(id).inbox.front()?;
        drop(locals);
        let block = self.blocks.blocks.get_mut(&slot)?;
        let value = block.messages.value(&message_key(&message_there), || message_there);
        self.blocks.waiting.insert((slot, message), value);
        Some(value)
    }

    /// What a machine that looks into its inbox makes of a message.
    pub(super) fn take(&mut self, id: LocalStateId, message: Message) -> Rc<[Taken]> {
        let mut locals = self.expander.memo.locals();
        let number = locals.message(message);
        let known = self.blocks.taken.get(&(id, number));
        if let Some(known) = known {
            return known.clone();
        }
        let delivered = locals.take_next(id, message);
        drop(locals);
        self.blocks.n_runs += 1;
        let taken: Rc<[Taken]> = delivered
            .into_iter()
            .map(|one| Taken { end: self.blocks.end(one.end), touched: one.touched })
            .collect();
        self.blocks.taken.insert((id, number), taken.clone());
        taken
    }

    /// What becomes of runs that see a position of the inbox; `None` if more has to be read.
    pub(super) fn see(
        &mut self,
        reading: &Reading,
        branches: &[Branch],
        part: u32,
        value: u32,
    ) -> Option<Rc<[Branch]>> {
        let mut next = Vec::new();
        for branch in branches {
            if branch.is_settled() {
                next.push(branch.clone());
            } else if value != EMPTY {
                match branch.looks {
                    true => self.see_message(reading, branch, part, value, &mut next)?,
                    false => next.push(branch.clone()),
                }
            } else {
                self.see_end(reading, branch, part, &mut next)?;
            }
        }
        let mut known = rustc_hash::FxHashSet::default();
        next.retain(|branch| known.insert(branch.clone()));
        Some(next.into())
    }

    /// A run that looks into the inbox finds a message at a position.
    pub(super) fn see_message(
        &mut self,
        reading: &Reading,
        branch: &Branch,
        part: u32,
        value: u32,
        next: &mut Vec<Branch>,
    ) -> Option<()> {
        let BranchEnd::Stands(id) = branch.end else { return Some(()) };
        let message = self.blocks.blocks.get(&reading.slot)?.messages.values[value as usize];
        let keeps = reading.reads & KEEPS != 0;
        if !keeps {
            let locals = self.expander.memo.locals();
            if must_wait(&locals.exe, locals.local(id), message.event) {
                let mut branch = branch.clone();
                if let Err(at) = branch.skipped.binary_search(&message.event) {
                    branch.skipped.insert(at, message.event);
                }
                next.push(branch);
                return Some(());
            }
        }
        let taken = self.take(id, message);
        if self.blocks.reads_more(reading, all_reads(&taken)) {
            return None;
        }
        for one in taken.iter() {
            let mut branch = Branch { end: one.end, ..branch.clone() };
            let locals = self.expander.memo.locals();
            let BranchEnd::Stands(after) = one.end else {
                branch.looks = false;
                next.push(branch);
                continue;
            };
            let (before, after) = (locals.local(id), locals.local(after));
            branch.writes |= written(before, after, one.touched);
            branch.looks = matches!(after.status, Status::Idle | Status::Blocked { .. });
            // Messages that were put off may be taken in another control state.
            let is_open =
                branch.looks && branch.skipped.iter().any(|&event| !must_wait(&locals.exe, after, event));
            if is_open {
                drop(locals);
                self.blocks.reads_more(reading, KEEPS);
                return None;
            }
            // Equal messages are the same: any that are left may be those that were there.
            let there = before.inbox.iter().chain(std::iter::once(&message));
            let mut left = after.inbox.iter().peekable();
            let places = branch.kept.iter().copied().chain(std::iter::once(part)).collect::<Vec<u32>>();
            branch.kept.clear();
            for (place, message) in places.into_iter().zip(there) {
                if left.next_if(|one| message_key(one) == message_key(message)).is_some() {
                    branch.kept.push(place);
                } else {
                    branch.removed.push(place);
                }
            }
            debug_assert!(left.next().is_none() || has_nothing(after));
            branch.removed.sort_unstable();
            next.push(branch);
        }
        Some(())
    }

    /// A run finds that the inbox ends at a position.
    pub(super) fn see_end(
        &mut self,
        reading: &Reading,
        branch: &Branch,
        part: u32,
        next: &mut Vec<Branch>,
    ) -> Option<()> {
        let mut open = vec![Branch { tail: Vec::new(), ..branch.clone() }];
        for (at, &value) in branch.tail.iter().enumerate() {
            for branch in std::mem::take(&mut open) {
                if !branch.looks {
                    let mut branch = branch;
                    branch.appended.push((part + at as u32, value));
                    open.push(branch);
                    continue;
                }
                let first = open.len();
                self.see_message(reading, &branch, part + at as u32, value, &mut open)?;
                for after in &mut open[first..] {
                    let place = part + at as u32;
                    match after.removed.binary_search(&place) {
                        // It never was there.
                        Ok(at) => drop(after.removed.remove(at)),
                        Err(_) => after.appended.push((place, value)),
                    }
                }
            }
        }
        next.extend(open.into_iter().map(|branch| Branch {
            looks: false,
            kept: Vec::new(),
            skipped: Vec::new(),
            ..branch
        }));
        Some(())
    }
}

//! Events: what takes part in them, and what is known of their local relations.
//!
//! An event has a *lead*, the slot whose value offers it, and other parties. It changes a vector when the value of the lead
//! offers it and every other party has a successor; each party's successors depend on its own value alone. Several
//! events may have the same local relation for a party (the same message from different senders): it is asked for once.
//!
//! A slot with many values can be a *block* of several levels, one for each of its parts, the first on top. What it does is then a
//! partial function of the parts that it reads: the search reads a block from the top down, part by part, and asks for the
//! successors of each combination of parts that were read, once, however many combinations of the others there are.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::diagrams::{Halt, MAX_LEVELS};

pub type EventId = u32;

/// An event that a value offers, and one value that follows it there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct NewEvent {
    /// Events that differ in it are different; it means nothing here.
    pub label: u32,
    /// Slots other than the lead, each once, and what happens there.
    pub parties: Vec<(u32, u32)>,
    pub next: u32,
}

/// One continuation of the parts of a block that were read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BlockStep {
    /// Of a lead: label and other parties, as in [`NewEvent`].
    pub event: Option<(u32, Vec<(u32, u32)>)>,
    /// Parts that get a value, sorted; all others keep theirs.
    pub writes: Vec<(u32, u32)>,
    /// Parts that are taken out, sorted: the value of each part below moves up by one, and the last part gets the value zero. So the
    /// last parts of a block can be a queue.
    pub removes: Vec<u32>,
}

/// The local relations of a system. Answers must not change; they are asked for once.
///
/// Values are numbered from zero for each slot, without large gaps. A slot that occurs in a vector for the first time has the
/// value zero in all vectors before.
pub trait LocalSteps {
    /// The events that a value of a slot leads. One that has several successors there is named once for each.
    ///
    /// # Errors
    /// When the search is to stop.
    fn leads(&mut self, slot: u32, value: u32, found: &mut Vec<NewEvent>) -> Result<(), Halt>;

    /// What becomes of a value of a slot under an action.
    ///
    /// # Errors
    /// When the search is to stop.
    fn react(&mut self, slot: u32, action: u32, value: u32, next: &mut Vec<u32>) -> Result<(), Halt>;

    /// Levels of a slot. One that has several is a block, and never asked for by `leads` and `react`.
    fn n_parts(&mut self, _slot: u32) -> u32 {
        1
    }

    /// Begins to read a block that has a value in its first part, for what it leads or for an action on it; `None` if nothing
    /// comes of that value. The answer is another one when [`LocalSteps::finish`] has found that more parts must be read.
    ///
    /// # Errors
    /// When the search is to stop.
    fn enter(&mut self, _slot: u32, _action: Option<u32>, _value: u32) -> Result<Option<u32>, Halt> {
        Ok(None)
    }

    /// What is known after the value of one more part; the same as before if it makes no difference; `None` if more has to be
    /// read of the parts above.
    ///
    /// # Errors
    /// When the search is to stop.
    fn read(&mut self, reading: u32, _part: u32, _value: u32) -> Result<Option<u32>, Halt> {
        Ok(Some(reading))
    }

    /// What becomes of a block of which everything that matters was read; `false` if more has to be read.
    ///
    /// # Errors
    /// When the search is to stop.
    fn finish(&mut self, _reading: u32, _found: &mut Vec<BlockStep>) -> Result<bool, Halt> {
        Ok(true)
    }

    /// Whether values lead more than they did when they were asked for, since there are new slots. Says so once.
    fn leads_have_grown(&mut self) -> bool {
        false
    }
}

/// The role of a level in an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    None,
    Lead,
    Party(u32),
}

/// Slots and actions, or levels and relations.
type Parties = Box<[(u32, u32)]>;

struct Event {
    label: u32,
    lead: u32,
    top: u32,
    bottom: u32,
    /// Levels other than the lead, from the top down, and their relations.
    parties: Parties,
    /// It is fired by itself at its top level: a block has to know the event before it is read, and the lead comes later.
    is_alone: bool,
}

/// What becomes of a block: of a lead, the event; and what is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct BlockEnd {
    pub event: Option<EventId>,
    rewrite: u32,
}

/// What a step of a block writes, and which parts it takes out.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Rewrite {
    writes: Box<[(u32, u32)]>,
    removes: Box<[u32]>,
}

/// What a block is read for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Goal {
    /// All events that it leads with their top at this level.
    Lead(u32),
    /// One event that it leads.
    LeadOf(EventId),
    /// Its part in an event.
    Party(EventId),
}

struct Relation {
    slot: u32,
    action: u32,
    /// By value, in `targets`.
    known: Vec<Option<(u32, u32)>>,
}

/// Everything known of the events of a system, for one order of its slots.
#[derive(Default)]
pub struct Events {
    /// By level, from below.
    slots: Vec<u32>,
    /// By slot; zero is none.
    levels: Vec<u32>,
    events: Vec<Event>,
    index: FxHashMap<(u32, u32, Parties), EventId>,
    relations: Vec<Relation>,
    relation_index: FxHashMap<(u32, u32), u32>,
    targets: Vec<u32>,
    /// By slot and value: what it leads, in `led`.
    leads: Vec<Vec<Option<(u32, u32)>>>,
    /// Sorted by event within each value.
    led: Vec<(EventId, u32)>,
    /// How often leads were forgotten.
    generation: u32,
    /// By top level: the levels below it that lead an event which reaches it.
    below: Vec<Vec<u32>>,
    /// By top level: events that are fired by themselves.
    alone: Vec<Vec<EventId>>,
    /// By level: the part of its slot.
    parts: Vec<u32>,
    /// By slot, with a level.
    n_parts: Vec<u32>,
    rewrites: Vec<Rewrite>,
    rewrite_index: FxHashMap<Rewrite, u32>,
    ends: Vec<BlockEnd>,
    end_index: FxHashMap<BlockEnd, u32>,
    /// By reading: what becomes of the block, in `block_ends`.
    finished: FxHashMap<u32, (u32, u32)>,
    block_ends: Vec<u32>,
    passes: FxHashMap<(Goal, u32), u32>,
    /// For use again.
    found: Vec<NewEvent>,
    next: Vec<u32>,
}

impl Events {
    /// For slots in this order, from the bottom level up. Others get levels above when they occur.
    pub fn new(order: &[u32]) -> Self {
        let mut events = Events::default();
        for &slot in order {
            events.level_of(slot);
        }
        events
    }

    /// The level of a slot, of its first part if it is a block; a new one, on top of all others, if it has none.
    pub fn level_of(&mut self, slot: u32) -> u32 {
        self.place(slot, 1)
    }

    /// The same for a slot that may be a block: it gets so many levels if it has none.
    pub fn place(&mut self, slot: u32, n_parts: u32) -> u32 {
        if self.levels.len() <= slot as usize {
            self.levels.resize(slot as usize + 1, 0);
            self.n_parts.resize(slot as usize + 1, 1);
            self.leads.resize(slot as usize + 1, Vec::new());
        }
        if self.levels[slot as usize] == 0 {
            for part in (0..n_parts.max(1)).rev() {
                self.slots.push(slot);
                self.parts.push(part);
                self.below.push(Vec::new());
                self.alone.push(Vec::new());
            }
            self.n_parts[slot as usize] = n_parts.max(1);
            self.levels[slot as usize] = self.slots.len() as u32;
        }
        self.levels[slot as usize]
    }

    /// The part of a slot that a level is for; zero unless the slot is a block.
    pub fn part_of(&self, level: u32) -> u32 {
        self.parts[level as usize - 1]
    }

    /// Whether the slot of a level has several.
    pub fn is_block(&self, level: u32) -> bool {
        self.n_parts_of(self.slot_of(level)) > 1
    }

    pub fn n_parts_of(&self, slot: u32) -> u32 {
        self.n_parts.get(slot as usize).copied().unwrap_or(1)
    }

    pub fn n_levels(&self) -> u32 {
        self.slots.len() as u32
    }

    pub fn n_events(&self) -> usize {
        self.events.len()
    }

    /// The slots, from the bottom level up.
    pub fn order(&self) -> &[u32] {
        &self.slots
    }

    pub fn slot_of(&self, level: u32) -> u32 {
        self.slots[level as usize - 1]
    }

    /// The levels that take part in each event, from below.
    pub fn spans(&self) -> impl Iterator<Item = Vec<u32>> + '_ {
        self.events.iter().map(|event| {
            let mut levels: Vec<u32> = event.parties.iter().map(|&(level, _)| level).collect();
            levels.push(event.lead);
            levels.sort_unstable();
            levels
        })
    }

    pub fn n_bytes(&self) -> usize {
        let tables: usize = self.relations.iter().map(|relation| relation.known.capacity() * 12).sum();
        let leads: usize = self.leads.iter().map(|leads| leads.capacity() * 12).sum();
        tables
            + leads
            + self.targets.capacity() * 4
            + self.led.capacity() * 8
            + self.events.capacity() * (size_of::<Event>() + 80)
            + self.rewrites.capacity() * 80
            + self.ends.capacity() * 32
            + self.finished.capacity() * 13
            + self.passes.capacity() * 20
            + self.relations.capacity() * (size_of::<Relation>() + 16)
    }

    /// Values may lead more than they did: they are asked for again.
    fn forget_leads(&mut self) {
        // Places in `led` may be in use further up the stack; so it keeps its content.
        for leads in &mut self.leads {
            leads.clear();
        }
        self.generation += 1;
    }

    /// What is known of leads is of this generation.
    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }

    pub fn label(&self, event: EventId) -> u32 {
        self.events[event as usize].label
    }

    /// The slots other than the lead that take part in an event, and what happens there.
    pub fn parties(&self, event: EventId) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.events[event as usize].parties.iter().map(|&(_, relation)| {
            let Relation { slot, action, .. } = self.relations[relation as usize];
            (slot, action)
        })
    }

    pub(crate) fn top(&self, event: EventId) -> u32 {
        self.events[event as usize].top
    }

    pub(crate) fn bottom(&self, event: EventId) -> u32 {
        self.events[event as usize].bottom
    }

    pub(crate) fn role(&self, event: EventId, level: u32) -> Role {
        let event = &self.events[event as usize];
        if event.lead == level {
            return Role::Lead;
        }
        let party = event.parties.iter().find(|&&(party, _)| party == level);
        party.map_or(Role::None, |&(_, relation)| Role::Party(relation))
    }

    /// The levels that lead an event which has its top here, by number of `at`.
    pub(crate) fn lead_below(&self, top: u32, at: usize) -> Option<u32> {
        self.below[top as usize - 1].get(at).copied()
    }

    /// Whether the lead finds it together with others that reach this top level.
    pub(crate) fn is_found_below(&self, event: EventId, top: u32) -> bool {
        let Event { top: its_top, is_alone, .. } = self.events[event as usize];
        its_top == top && !is_alone
    }

    /// Events that are fired by themselves at a level, by number of `at`.
    pub(crate) fn alone_at(&self, top: u32, at: usize) -> Option<EventId> {
        self.alone[top as usize - 1].get(at).copied()
    }

    /// A number for a goal and what was read on the way to it.
    pub(crate) fn pass(&mut self, goal: Goal, reading: u32) -> u32 {
        let next = self.passes.len() as u32;
        *self.passes.entry((goal, reading)).or_insert(next)
    }

    pub(crate) fn end(&self, number: u32) -> BlockEnd {
        self.ends[number as usize]
    }

    /// The value of a part after a step.
    pub(crate) fn after(&self, end: u32, part: u32, value: u32) -> u32 {
        let rewrite = &self.rewrites[self.ends[end as usize].rewrite as usize];
        rewrite.writes.iter().find(|&&(written, _)| written == part).map_or(value, |&(_, after)| after)
    }

    /// Whether a step takes out a part.
    pub(crate) fn removes(&self, end: u32, part: u32) -> bool {
        self.rewrites[self.ends[end as usize].rewrite as usize].removes.contains(&part)
    }

    pub(crate) fn block_end(&self, at: usize) -> u32 {
        self.block_ends[at]
    }

    /// What becomes of a block that was read: places in `block_ends`.
    pub(crate) fn finish<S: LocalSteps>(
        &mut self,
        steps: &mut S,
        slot: u32,
        reading: u32,
    ) -> Result<Range<usize>, Halt> {
        if let Some(&(first, end)) = self.finished.get(&reading) {
            return Ok(first as usize..end as usize);
        }
        let mut found = Vec::new();
        if !steps.finish(reading, &mut found)? {
            return Ok(0..0);
        }
        let mut ends = Vec::with_capacity(found.len());
        for BlockStep { event, writes, removes } in found {
            let event = match event {
                Some((label, parties)) => Some(self.event(steps, slot, label, parties)?),
                None => None,
            };
            debug_assert!(writes.is_sorted_by(|a, b| a.0 < b.0));
            debug_assert!(removes.is_sorted_by(|a, b| a < b));
            let new = Rewrite { writes: writes.into(), removes: removes.into() };
            let next = self.rewrites.len() as u32;
            let rewrite = *self.rewrite_index.entry(new.clone()).or_insert(next);
            if rewrite == next {
                self.rewrites.push(new);
            }
            let end = BlockEnd { event, rewrite };
            let next = self.ends.len() as u32;
            let number = *self.end_index.entry(end).or_insert(next);
            if number == next {
                self.ends.push(end);
            }
            ends.push(number);
        }
        ends.sort_unstable();
        ends.dedup();
        let first = self.block_ends.len();
        self.block_ends.extend_from_slice(&ends);
        self.finished.insert(reading, (first as u32, self.block_ends.len() as u32));
        Ok(first..self.block_ends.len())
    }

    pub(crate) fn led(&self, at: usize) -> (EventId, u32) {
        self.led[at]
    }

    pub(crate) fn target(&self, at: usize) -> u32 {
        self.targets[at]
    }

    /// What a value leads: places in `led`.
    #[inline]
    pub(crate) fn leads<S: LocalSteps>(
        &mut self,
        steps: &mut S,
        level: u32,
        value: u32,
    ) -> Result<Range<usize>, Halt> {
        let slot = self.slots[level as usize - 1];
        if let Some(&Some((first, end))) = self.leads[slot as usize].get(value as usize) {
            return Ok(first as usize..end as usize);
        }
        self.learn_leads(steps, slot, value)
    }

    #[cold]
    fn learn_leads<S: LocalSteps>(
        &mut self,
        steps: &mut S,
        slot: u32,
        value: u32,
    ) -> Result<Range<usize>, Halt> {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let answer = steps.leads(slot, value, &mut found);
        let mut led: Vec<(EventId, u32)> = Vec::with_capacity(found.len());
        for NewEvent { label, parties, next } in found.drain(..) {
            led.push((self.event(steps, slot, label, parties)?, next));
        }
        self.found = found;
        answer?;
        if steps.leads_have_grown() {
            self.forget_leads();
        }
        led.sort_unstable();
        led.dedup();
        let first = self.led.len();
        self.led.extend_from_slice(&led);
        let leads = &mut self.leads[slot as usize];
        if leads.len() <= value as usize {
            leads.resize(value as usize + 1, None);
        }
        leads[value as usize] = Some((first as u32, self.led.len() as u32));
        Ok(first..self.led.len())
    }

    fn event<S: LocalSteps>(
        &mut self,
        steps: &mut S,
        lead: u32,
        label: u32,
        mut parties: Vec<(u32, u32)>,
    ) -> Result<EventId, Halt> {
        parties.sort_unstable();
        let key = (lead, label, parties.into_boxed_slice());
        if let Some(&known) = self.index.get(&key) {
            return Ok(known);
        }
        let lead_level = self.level_of(lead);
        let mut levels: Vec<(u32, u32)> = Vec::with_capacity(key.2.len());
        let is_block = self.n_parts_of(lead) > 1;
        let (mut is_alone, mut bottom) = (is_block, lead_level + 1 - self.n_parts_of(lead));
        for &(slot, action) in &key.2 {
            debug_assert_ne!(slot, lead, "the lead is no other party");
            let level = self.place(slot, steps.n_parts(slot));
            levels.push((level, self.relation(slot, action)));
            is_alone |= level > lead_level && self.n_parts_of(slot) > 1;
            bottom = bottom.min(level + 1 - self.n_parts_of(slot));
        }
        if self.n_levels() >= MAX_LEVELS {
            return Err(Halt::Memory);
        }
        levels.sort_unstable_by(|a, b| b.cmp(a));
        let top = levels.first().map_or(lead_level, |&(level, _)| level.max(lead_level));
        is_alone &= top > lead_level;
        let event = self.events.len() as EventId;
        if is_alone {
            self.alone[top as usize - 1].push(event);
        } else if top > lead_level && !self.below[top as usize - 1].contains(&lead_level) {
            self.below[top as usize - 1].push(lead_level);
        }
        self.events.push(Event { label, lead: lead_level, top, bottom, parties: levels.into(), is_alone });
        self.index.insert(key, event);
        Ok(event)
    }

    fn relation(&mut self, slot: u32, action: u32) -> u32 {
        let next = self.relations.len() as u32;
        let relation = *self.relation_index.entry((slot, action)).or_insert(next);
        if relation == next {
            self.relations.push(Relation { slot, action, known: Vec::new() });
        }
        relation
    }

    /// What becomes of a value: places in `targets`.
    #[inline]
    pub(crate) fn react<S: LocalSteps>(
        &mut self,
        steps: &mut S,
        relation: u32,
        value: u32,
    ) -> Result<Range<usize>, Halt> {
        if let Some(&Some((first, end))) = self.relations[relation as usize].known.get(value as usize) {
            return Ok(first as usize..end as usize);
        }
        self.learn(steps, relation, value)
    }

    #[cold]
    fn learn<S: LocalSteps>(
        &mut self,
        steps: &mut S,
        relation: u32,
        value: u32,
    ) -> Result<Range<usize>, Halt> {
        let Relation { slot, action, .. } = self.relations[relation as usize];
        let mut next = std::mem::take(&mut self.next);
        next.clear();
        let answer = steps.react(slot, action, value, &mut next);
        next.sort_unstable();
        next.dedup();
        let first = self.targets.len();
        self.targets.extend_from_slice(&next);
        self.next = next;
        answer?;
        let known = &mut self.relations[relation as usize].known;
        if known.len() <= value as usize {
            known.resize(value as usize + 1, None);
        }
        known[value as usize] = Some((first as u32, self.targets.len() as u32));
        Ok(first..self.targets.len())
    }

    pub(crate) fn slot_and_action(&self, relation: u32) -> (u32, u32) {
        let Relation { slot, action, .. } = self.relations[relation as usize];
        (slot, action)
    }

    /// All known pairs of a value and a successor of it, by relation.
    pub(crate) fn known_reactions(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        self.relations.iter().enumerate().flat_map(move |(number, relation)| {
            let known = relation.known.iter().enumerate();
            known.filter_map(|(value, range)| range.map(|range| (value, range))).flat_map(
                move |(value, (first, end))| {
                    let targets = &self.targets[first as usize..end as usize];
                    targets.iter().map(move |&target| (number as u32, value as u32, target))
                },
            )
        })
    }

    /// All known leads: event, value, successor.
    pub(crate) fn known_leads(&self) -> impl Iterator<Item = (EventId, u32, u32)> + '_ {
        self.leads.iter().flat_map(move |leads| {
            let known = leads.iter().enumerate();
            known.filter_map(|(value, range)| range.map(|range| (value, range))).flat_map(
                move |(value, (first, end))| {
                    let led = &self.led[first as usize..end as usize];
                    led.iter().map(move |&(event, next)| (event, value as u32, next))
                },
            )
        })
    }

    pub(crate) fn n_relations(&self) -> usize {
        self.relations.len()
    }

    /// The top level of every event, with its relation there unless it is the lead.
    pub(crate) fn tops(&self) -> impl Iterator<Item = (EventId, u32, Role)> + '_ {
        (0..self.events.len() as EventId).map(|event| {
            let top = self.top(event);
            (event, top, self.role(event, top))
        })
    }
}

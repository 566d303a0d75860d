//! Events: what takes part in them, and what is known of their local relations.
//!
//! An event has a *lead*, the slot whose value offers it, and other parties. It changes a vector when the value of the lead
//! offers it and every other party has a successor; each party's successors depend on its own value alone. Several
//! events may have the same local relation for a party (the same message from different senders): it is asked for once.

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

    /// The level of a slot; a new one, on top of all others, if it has none.
    pub fn level_of(&mut self, slot: u32) -> u32 {
        if self.levels.len() <= slot as usize {
            self.levels.resize(slot as usize + 1, 0);
            self.leads.resize(slot as usize + 1, Vec::new());
        }
        if self.levels[slot as usize] == 0 {
            self.slots.push(slot);
            self.below.push(Vec::new());
            self.levels[slot as usize] = self.slots.len() as u32;
        }
        self.levels[slot as usize]
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
            led.push((self.event(slot, label, parties)?, next));
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

    fn event(&mut self, lead: u32, label: u32, mut parties: Vec<(u32, u32)>) -> Result<EventId, Halt> {
        parties.sort_unstable();
        let key = (lead, label, parties.into_boxed_slice());
        if let Some(&known) = self.index.get(&key) {
            return Ok(known);
        }
        let lead_level = self.level_of(lead);
        let mut levels: Vec<(u32, u32)> = Vec::with_capacity(key.2.len());
        for &(slot, action) in &key.2 {
            debug_assert_ne!(slot, lead, "the lead is no other party");
            levels.push((self.level_of(slot), self.relation(slot, action)));
        }
        if self.n_levels() >= MAX_LEVELS {
            return Err(Halt::Memory);
        }
        levels.sort_unstable_by(|a, b| b.cmp(a));
        let all = || levels.iter().map(|&(level, _)| level).chain([lead_level]);
        let (top, bottom) = (all().max().unwrap_or(lead_level), all().min().unwrap_or(lead_level));
        if top > lead_level && !self.below[top as usize - 1].contains(&lead_level) {
            self.below[top as usize - 1].push(lead_level);
        }
        let event = self.events.len() as EventId;
        self.events.push(Event { label, lead: lead_level, top, bottom, parties: levels.into() });
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

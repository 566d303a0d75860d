//! Local states split into several levels: control state and continuation, inbox, and every variable.
//!
//! A machine or monitor with very many local states has few values of each of these parts, as a rule. A handler is run once for each
//! combination of the parts that it *reads*, as the kernel records ([`Touched`]): the others are filled in from some local state
//! with the same control state, and their values after the step are those before, unless the handler wrote them.
//!
//! Which parts a handler reads is learned: it is run with what is known to be read so far, and when it reads more, the run is
//! forgotten and the search reads more. A run counts only when everything that it read was read by the search, so no handler
//! counts on a combination that is not reachable. A message that waits behind an effect depends on the inbox alone.

use allways_machine::content::words;
use allways_machine::ir::ControlId;
use allways_machine::{Local, Message, Status, Touched, Value, rules};
use allways_mdd::{BlockStep, Halt};
use rustc_hash::FxHashMap;

use super::steps::{ABSENT, Action, BROKEN, MemoSteps};
use crate::search::local::states::{Act, Ending, LocalStateId, LocalStates, Owner};

/// Parts of a local state: what it is and does, the inbox, then its fields.
const CONTROL: u32 = 0;
pub(crate) const INBOX: u32 = 1;
pub(crate) const FIELDS: u32 = 2;

/// The control of a reading that is the same for several.
const ANY_CONTROL: u32 = u32::MAX;

/// The values of one part.
struct Table<T> {
    values: Vec<T>,
    index: FxHashMap<Box<[u64]>, u32>,
}

impl<T> Table<T> {
    /// The first values are given, and have no content.
    fn new(values: Vec<T>) -> Self {
        Table { values, index: FxHashMap::default() }
    }

    fn value(&mut self, key: &[u64], make: impl FnOnce() -> T) -> u32 {
        if let Some(&known) = self.index.get(key) {
            return known;
        }
        let value = self.values.len() as u32;
        self.values.push(make());
        self.index.insert(key.into(), value);
        value
    }
}

/// A slot that is split.
struct Block {
    owner: Owner,
    /// Without fields and inbox; the first two are none.
    controls: Table<Local>,
    /// The first is empty.
    inboxes: Table<Vec<Message>>,
    /// By field; the first is none.
    fields: Vec<Table<Value>>,
    /// By control: the values of all parts of some local state.
    examples: Vec<Box<[u32]>>,
    /// By action, which is none for the machine's own steps, and control: the parts that were read so far, as bits.
    known_reads: FxHashMap<(Option<u32>, u32), u64>,
}

/// What was read of a block.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Reading {
    slot: u32,
    action: Option<u32>,
    control: u32,
    /// The parts that are read, as bits.
    reads: u64,
    /// Those that were, with their values.
    read: Vec<(u32, u32)>,
}

/// All slots that are split.
#[derive(Default)]
pub(crate) struct Blocks {
    /// Local states of a slot after which it is split; none is never.
    pub split_after: Option<usize>,
    blocks: FxHashMap<u32, Block>,
    /// Slots that are to be split.
    wishes: Vec<u32>,
    /// Slots that cannot be split.
    refused: Vec<u32>,
    readings: Vec<Reading>,
    reading_index: FxHashMap<Reading, u32>,
    next: FxHashMap<(u32, u32, u32), u32>,
    /// By slot, action and control: what [`MemoSteps::enter_block`] said.
    entered: FxHashMap<(u32, Option<u32>, u32), Option<u32>>,
    /// By slot and action: controls that only append to the inbox.
    appends: FxHashMap<(u32, u32), Vec<u32>>,
    /// Values by local state.
    known: FxHashMap<LocalStateId, Box<[u32]>>,
    pub n_runs: u64,
    n_words: usize,
}

impl Blocks {
    pub fn is_split(&self, slot: u32) -> bool {
        self.blocks.contains_key(&slot)
    }

    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Takes note of how many local states a slot has.
    pub fn note(&mut self, slot: u32, n_states: usize) {
        let is_over = self.split_after.is_some_and(|most| n_states > most);
        let is_settled = self.is_split(slot) || self.wishes.contains(&slot) || self.refused.contains(&slot);
        if is_over && !is_settled {
            self.wishes.push(slot);
        }
    }

    /// No more slots are split from now on.
    pub fn settle(&mut self) {
        self.split_after = None;
        self.wishes.clear();
    }

    /// Whether slots are to be split.
    pub fn has_wishes(&self) -> bool {
        !self.wishes.is_empty()
    }

    pub fn n_parts(&self, slot: u32) -> u32 {
        self.blocks.get(&slot).map_or(1, |block| FIELDS + block.fields.len() as u32)
    }

    pub fn n_values(&self, slot: u32, part: u32) -> u32 {
        let Some(block) = self.blocks.get(&slot) else { return 0 };
        match part {
            CONTROL => block.controls.values.len() as u32,
            INBOX => block.inboxes.values.len() as u32,
            field => block.fields[(field - FIELDS) as usize].values.len() as u32,
        }
    }

    pub fn n_bytes(&self) -> usize {
        self.readings.capacity() * (2 * size_of::<Reading>() + 64)
            + self.next.capacity() * 17
            + self.entered.capacity() * 25
            + self.known.capacity() * 64
            + self.n_words * 24
    }

    fn control(&self, slot: u32, value: u32) -> Option<&Local> {
        let block = self.blocks.get(&slot)?;
        (value > BROKEN).then(|| &block.controls.values[value as usize])
    }

    pub fn control_state(&self, slot: u32, value: u32) -> Option<ControlId> {
        self.control(slot, value).map(|local| local.control)
    }

    /// The field that a part is, and a value of it.
    pub fn field(&self, slot: u32, part: u32, value: u32) -> Option<(usize, Value)> {
        let field = part.checked_sub(FIELDS)? as usize;
        let table = self.blocks.get(&slot)?.fields.get(field)?;
        (value > 0).then(|| (field, table.values[value as usize]))
    }

    pub fn is_blocked(&self, slot: u32, value: u32) -> bool {
        self.control(slot, value).is_some_and(|local| matches!(local.status, Status::Blocked { .. }))
    }

    /// The values of the parts of a local state.
    fn values(&mut self, slot: u32, id: LocalStateId, locals: &LocalStates<'_>) -> Box<[u32]> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let Some(block) = self.blocks.get_mut(&slot) else { return Box::default() };
        let local = locals.local(id);
        let n_fields = block.fields.len();
        let mut control = local.clone();
        control.inbox.clear();
        control.registers.iter_mut().take(n_fields).for_each(|value| *value = Value::NULL);
        let mut key = Vec::new();
        words(&control, &mut key);
        self.n_words += key.len() + 16;
        let mut values = vec![block.controls.value(&key, || control)];
        key.clear();
        key.extend(
            local
                .inbox
                .iter()
                .flat_map(|message| [u64::from(message.event.as_u32()), message.payload.bits()]),
        );
        values.push(match key.is_empty() {
            true => 0,
            false => block.inboxes.value(&key, || local.inbox.iter().copied().collect()),
        });
        self.n_words += key.len();
        for (at, field) in block.fields.iter_mut().enumerate() {
            values.push(match local.registers.get(at) {
                Some(&value) => field.value(&[value.bits()], || value),
                None => 0,
            });
        }
        let values: Box<[u32]> = values.into();
        let control = values[CONTROL as usize] as usize;
        if block.examples.len() <= control {
            block.examples.resize(control + 1, Box::default());
        }
        if block.examples[control].is_empty() {
            block.examples[control] = values.clone();
        }
        self.known.insert(id, values.clone());
        values
    }

    /// A local state by its parts; zero where there is none.
    fn local_state(&mut self, slot: u32, values: &[u32], locals: &mut LocalStates<'_>) -> LocalStateId {
        let Some(block) = self.blocks.get(&slot) else { return 0 };
        if values[CONTROL as usize] <= BROKEN {
            return 0;
        }
        let mut local = block.controls.values[values[CONTROL as usize] as usize].clone();
        local.inbox.extend(&block.inboxes.values[values[INBOX as usize] as usize]);
        let parts = block.fields.iter().zip(&values[FIELDS as usize..]);
        for (register, (field, &value)) in local.registers.iter_mut().zip(parts) {
            *register = field.values[value as usize];
        }
        locals.intern_local(block.owner, &mut local, false)
    }

    fn reading(&mut self, reading: Reading) -> u32 {
        if let Some(&known) = self.reading_index.get(&reading) {
            return known;
        }
        let number = self.readings.len() as u32;
        self.readings.push(reading.clone());
        self.reading_index.insert(reading, number);
        number
    }

    /// What is known after one more part.
    pub fn read(&mut self, reading: u32, part: u32, value: u32) -> u32 {
        let now = &self.readings[reading as usize];
        if now.reads >> part & 1 == 0 {
            return reading;
        }
        if let Some(&known) = self.next.get(&(reading, part, value)) {
            return known;
        }
        let mut next = now.clone();
        next.read.push((part, value));
        let next = self.reading(next);
        self.next.insert((reading, part, value), next);
        next
    }

    pub fn parts_read(&self, reading: u32) -> Vec<Vec<(u32, u32)>> {
        let Reading { slot, action, control, read, .. } = &self.readings[reading as usize];
        let with = |control: u32| std::iter::once((CONTROL, control)).chain(read.iter().copied()).collect();
        match (control, action) {
            (&ANY_CONTROL, Some(action)) => {
                let controls = self.appends.get(&(*slot, *action));
                controls.into_iter().flatten().map(|&control| with(control)).collect()
            }
            (&control, _) => vec![with(control)],
        }
    }

    /// Makes a note that more is read; says whether that is so.
    fn reads_more(&mut self, reading: u32, reads: u64) -> bool {
        let Reading { slot, action, control, reads: known, .. } = self.readings[reading as usize];
        if reads & !known == 0 {
            return false;
        }
        self.entered.remove(&(slot, action, control));
        if let Some(block) = self.blocks.get_mut(&slot) {
            *block.known_reads.entry((action, control)).or_default() |= reads;
        }
        true
    }
}

/// Parts of a local state as bits, by what the kernel says of fields and the inbox.
fn parts(touched: u64) -> u64 {
    (touched & !Touched::INBOX) << FIELDS | u64::from(touched & Touched::INBOX != 0) << INBOX
}

impl MemoSteps<'_> {
    /// Splits the slots that have too many local states, where that is possible.
    pub fn split_slots(&mut self) {
        let wishes = std::mem::take(&mut self.blocks.wishes);
        for slot in wishes {
            let (Some(owner), id) = (self.owner(slot), self.local(slot, BROKEN + 1)) else { continue };
            let locals = self.expander.memo.locals();
            let machine = locals.local(id).machine;
            let n_fields = locals.exe.machines[machine].fields.len();
            let is_possible = !matches!(owner, Owner::Network(_)) && n_fields < Touched::MAX_FIELDS;
            drop(locals);
            if !is_possible {
                self.blocks.refused.push(slot);
                continue;
            }
            let block = Block {
                owner,
                controls: Table::new(vec![Local::default(), Local::default()]),
                inboxes: Table::new(vec![Vec::new()]),
                fields: (0..n_fields).map(|_| Table::new(vec![Value::NULL])).collect(),
                examples: Vec::new(),
                known_reads: FxHashMap::default(),
            };
            self.blocks.blocks.insert(slot, block);
        }
        self.expander.memo.locals().records_touched |= !self.blocks.is_empty();
    }

    /// The values of a local state, from the first part on; one if the slot is not split.
    pub fn values_of_parts(&mut self, slot: u32, id: LocalStateId) -> Box<[u32]> {
        match self.blocks.is_split(slot) {
            false => Box::new([self.value(slot, id)]),
            true if id == 0 => vec![0; self.blocks.n_parts(slot) as usize].into(),
            true => {
                let locals = self.expander.memo.locals();
                self.blocks.values(slot, id, &locals)
            }
        }
    }

    /// The local state with these values, from the first part on.
    pub fn local_of_parts(&mut self, slot: u32, values: &[u32]) -> LocalStateId {
        if !self.blocks.is_split(slot) {
            return values.first().map_or(0, |&value| self.local(slot, value));
        }
        let mut locals = self.expander.memo.locals();
        self.blocks.local_state(slot, values, &mut locals)
    }

    /// Whether the owner of a block has a step.
    pub(crate) fn block_can_step(&self, slot: u32, value: u32) -> bool {
        if (slot as usize) < self.expander.n_monitors() {
            return false;
        }
        let locals = self.expander.memo.locals();
        self.blocks.control(slot, value).is_some_and(|local| rules::can_step(&locals.exe, local))
    }

    pub(crate) fn enter_block(&mut self, slot: u32, action: Option<u32>, value: u32) -> Option<u32> {
        if let Some(&known) = self.blocks.entered.get(&(slot, action, value)) {
            return known;
        }
        let reading = self.begin_reading(slot, action, value);
        self.blocks.entered.insert((slot, action, value), reading);
        reading
    }

    fn begin_reading(&mut self, slot: u32, action: Option<u32>, value: u32) -> Option<u32> {
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
            let event = locals.messages[message as usize].event;
            let waits = self
                .blocks
                .control(slot, value)
                .is_some_and(|local| allways_machine::must_wait(&locals.exe, local, event));
            drop(locals);
            if waits {
                let appends = self.blocks.appends.entry((slot, action)).or_default();
                if !appends.contains(&value) {
                    appends.push(value);
                }
                let (control, reads) = (ANY_CONTROL, 1 << INBOX);
                let reading = Reading { slot, action: Some(action), control, reads, read: Vec::new() };
                return Some(self.blocks.reading(reading));
            }
        }
        let known = self.blocks.blocks.get(&slot).and_then(|block| block.known_reads.get(&(action, value)));
        let reads = known.copied().unwrap_or(0);
        Some(self.blocks.reading(Reading { slot, action, control: value, reads, read: Vec::new() }))
    }

    /// The local state that stands for all with these parts, and its values.
    fn representative(&mut self, reading: &Reading) -> Option<(LocalStateId, Box<[u32]>)> {
        let control = match (reading.control, reading.action) {
            (ANY_CONTROL, Some(action)) => *self.blocks.appends.get(&(reading.slot, action))?.first()?,
            (control, _) => control,
        };
        let block = self.blocks.blocks.get(&reading.slot)?;
        let mut values = block.examples.get(control as usize)?.clone();
        for &(part, value) in &reading.read {
            values[part as usize] = value;
        }
        let mut locals = self.expander.memo.locals();
        Some((self.blocks.local_state(reading.slot, &values, &mut locals), values))
    }

    /// What a step writes: everything that differs in parts that were read, and what was written of the others.
    fn writes(
        &mut self,
        reading: &Reading,
        before: &[u32],
        after: LocalStateId,
        touched: Touched,
    ) -> Vec<(u32, u32)> {
        let after = self.values_of_parts(reading.slot, after);
        let is_known = |part: u32| match part {
            CONTROL => reading.control != ANY_CONTROL,
            part => reading.reads >> part & 1 == 1,
        };
        // A message that waits changes nothing else, whatever control state it waits in.
        let is_append = reading.control == ANY_CONTROL;
        let written = if is_append { 0 } else { parts(touched.writes) };
        let parts = after.iter().enumerate().map(|(part, &value)| (part as u32, value));
        parts
            .filter(|&(part, value)| match is_known(part) {
                true => before[part as usize] != value,
                false => part != CONTROL && written >> part & 1 == 1,
            })
            .collect()
    }

    pub(crate) fn finish_block(&mut self, number: u32, found: &mut Vec<BlockStep>) -> Result<bool, Halt> {
        let reading = self.blocks.readings[number as usize].clone();
        if let Some(action) = reading.action
            && let Action::Create(id) = self.actions[action as usize]
        {
            let values = self.values_of_parts(reading.slot, id);
            let writes = values.iter().enumerate().map(|(part, &value)| (part as u32, value)).collect();
            found.push(BlockStep { event: None, writes });
            return Ok(true);
        }
        let Some((id, before)) = self.representative(&reading) else { return Ok(true) };
        self.blocks.n_runs += 1;
        match reading.action.map(|action| self.actions[action as usize].clone()) {
            None => self.act_of_block(number, &reading, id, &before, found),
            Some(Action::Deliver(message)) => {
                let delivered = self.expander.memo.locals().deliver(id, message);
                let reads = delivered.iter().fold(0, |reads, one| reads | parts(one.touched.reads));
                if self.blocks.reads_more(number, reads) {
                    return Ok(false);
                }
                for one in delivered {
                    match one.end {
                        Ending::Stands(after) => {
                            let writes = self.writes(&reading, &before, after, one.touched);
                            found.push(BlockStep { event: None, writes });
                        }
                        Ending::Cut(cut) => self.cuts.add(cut),
                        Ending::Unknown(reason) => {
                            self.expander.memo.unknown.get_or_insert(reason);
                        }
                        Ending::Fault(..) => {}
                    }
                }
                Ok(true)
            }
            Some(Action::Observe(messages)) => {
                let (mut at, mut touched, mut is_broken) = (id, Touched::default(), false);
                for &message in &messages {
                    let heard = self.expander.memo.locals().observe(at, message);
                    touched = touched.then(heard.touched);
                    match heard.end {
                        Ending::Stands(after) => at = after,
                        Ending::Fault(..) => is_broken = true,
                        Ending::Unknown(reason) => {
                            if !self.blocks.reads_more(number, parts(touched.reads)) {
                                self.expander.memo.unknown.get_or_insert(reason);
                                return Ok(true);
                            }
                            return Ok(false);
                        }
                        Ending::Cut(cut) => self.cuts.add(cut),
                    }
                    if is_broken {
                        break;
                    }
                }
                if self.blocks.reads_more(number, parts(touched.reads)) {
                    return Ok(false);
                }
                let writes = match is_broken {
                    true => {
                        self.break_property()?;
                        vec![(CONTROL, BROKEN)]
                    }
                    false => self.writes(&reading, &before, at, touched),
                };
                found.push(BlockStep { event: None, writes });
                Ok(true)
            }
            // Crashes and bounds come without blocks, creations were seen to.
            Some(Action::Probe(_) | Action::Create(_) | Action::NoteCreation(_) | Action::CanStep) => {
                Ok(true)
            }
        }
    }

    /// The outcomes of a machine's own part of a step.
    fn act_of_block(
        &mut self,
        number: u32,
        reading: &Reading,
        id: LocalStateId,
        before: &[u32],
        found: &mut Vec<BlockStep>,
    ) -> Result<bool, Halt> {
        let act = self.expander.memo.locals().act(id);
        let (deliver, outcomes) = match act {
            Act::Rest { .. } | Act::Network(_) => return Ok(true),
            Act::Fault => {
                self.break_property()?;
                found.push(BlockStep { event: Some((0, Vec::new())), writes: vec![(CONTROL, BROKEN)] });
                return Ok(true);
            }
            Act::Unknown(reason) => {
                self.expander.memo.unknown.get_or_insert(reason);
                return Ok(true);
            }
            Act::Step { deliver, outcomes, .. } => (deliver, outcomes),
        };
        let reads = outcomes.iter().fold(0, |reads, outcome| reads | parts(outcome.touched.reads));
        if self.blocks.reads_more(number, reads) {
            return Ok(false);
        }
        for outcome in outcomes {
            let mut parties = Vec::new();
            if let Some((target, message)) = deliver {
                parties.push((target, self.action(Action::Deliver(message))));
            }
            let (writes, stands) = match outcome.end {
                Ending::Stands(after) => (self.writes(reading, before, after, outcome.touched), true),
                Ending::Fault(..) => {
                    self.break_property()?;
                    (vec![(CONTROL, BROKEN)], false)
                }
                Ending::Unknown(reason) => {
                    self.expander.memo.unknown.get_or_insert(reason);
                    continue;
                }
                Ending::Cut(cut) => {
                    self.cuts.add(cut);
                    continue;
                }
            };
            self.add_observers(&outcome.observed, Action::Observe, &mut parties);
            if let (true, Some((created, id))) = (stands, outcome.created) {
                parties.push((created, self.action(Action::Create(id))));
            }
            if let (true, Some((network, operation))) = (stands, outcome.birth) {
                parties.push((network, self.action(Action::NoteCreation(operation))));
            }
            found.push(BlockStep { event: Some((0, parties)), writes });
        }
        Ok(true)
    }
}

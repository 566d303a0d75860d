//! Local states split into several levels: control state and continuation, every variable, and every position of the inbox.
//!
//! A machine or monitor with very many local states has few values of each of these parts, as a rule. A handler is run once for each
//! combination of the parts that it *reads*, as the kernel records ([`Touched`]): the others are filled in from some local state
//! with the same control state, and their values after the step are those before, unless the handler wrote them.
//!
//! Which variables a handler reads is learned: it is run with what is known to be read so far, and when it reads more, the run is
//! forgotten and the search reads more. A run counts only when everything that it read was read by the search.
//!
//! The inbox is a queue of positions below the variables. A handler is run with an empty inbox. When it ends with a look into the
//! inbox (the machine is idle or blocked), the next position is read, and its message handled as if it arrived now, which is
//! the same. Runs that agree in what they have come to are one [`Reading`], so the number of runs follows the different local states
//! on the way and not the contents of the inbox. A message that the machine puts off stays where it is, and its content does not
//! matter, unless the machine looks at it again in a control state that takes it: then readings keep such messages
//! ([`KEEPS`]). A message that arrives and waits goes to the first position that is empty.
//!
//! Here are the parts of local states and their values; [`reading`] has what is read and run, [`inbox`] how runs look into the inbox.

mod inbox;
mod reading;

use std::rc::Rc;

use allways_machine::content::words;
use allways_machine::invariant::kind_of;
use allways_machine::ir::{ControlId, EventId, MachineId};
use allways_machine::{Local, Message, Status, Touched, Value, rules};
use allways_run::StopReason;
use rustc_hash::FxHashMap;

use super::eager::NOTHING_AHEAD;
use super::steps::{BROKEN, MemoSteps};
use crate::search::local::states::{Cut, Ending, InputId, LocalStateId, LocalStates, Owner};

/// Parts of a local state: what it is and does, then its fields, then the positions of its inbox.
const CONTROL: u32 = 0;
pub(crate) const FIELDS: u32 = 1;

/// The control of a reading that is the same for several.
const ANY_CONTROL: u32 = u32::MAX;
/// Beside the fields that are read, as bits: readings keep messages that were put off.
const KEEPS: u64 = Touched::INBOX;
/// Positions of an inbox at first, and at most.
const FIRST_POSITIONS: usize = 2;
const MAX_POSITIONS: usize = 60;
/// The position after the last message is empty.
const EMPTY: u32 = 0;

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
    /// Messages of the inbox; the first is none.
    messages: Table<Message>,
    /// By field; the first is none.
    fields: Vec<Table<Value>>,
    n_positions: usize,
    /// By control: the values of control and fields of some local state.
    examples: Vec<Box<[u32]>>,
    /// By action, which is none for the machine's own steps, and control: the fields that were read so far, as bits, and [`KEEPS`].
    known_reads: FxHashMap<(Option<u32>, u32), u64>,
}

impl Block {
    fn positions(&self) -> u32 {
        FIELDS + self.fields.len() as u32
    }
}

/// What one run of a handler has come to so far.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Branch {
    end: BranchEnd,
    /// Of a machine's own step: in `Blocks::events`.
    event: Option<u32>,
    /// Of fields, from the beginning of the step.
    writes: u64,
    /// It waits for the next message.
    looks: bool,
    /// Positions of messages that it has taken.
    removed: Vec<u32>,
    /// Positions of messages that it has put off, if these are kept: they are in the inbox of the local state.
    kept: Vec<u32>,
    /// Events that it has put off, sorted, if messages are not kept.
    skipped: Vec<EventId>,
    /// Messages that come after all others.
    tail: Vec<u32>,
    /// Positions that get a message.
    appended: Vec<(u32, u32)>,
}

impl Branch {
    fn new(end: BranchEnd, event: Option<u32>, writes: u64, looks: bool) -> Self {
        Branch {
            end,
            event,
            writes,
            looks,
            removed: Vec::new(),
            kept: Vec::new(),
            skipped: Vec::new(),
            tail: Vec::new(),
            appended: Vec::new(),
        }
    }

    fn is_settled(&self) -> bool {
        !self.looks && self.tail.is_empty()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum BranchEnd {
    /// As it was.
    Same,
    Stands(LocalStateId),
    Fault,
    /// In `Blocks::unknowns`.
    Unknown(u32),
    /// In `Blocks::cuts`.
    Cut(u32),
}

/// What a machine that looks into its inbox makes of the next message.
#[derive(Clone, Copy, Debug)]
struct Taken {
    end: BranchEnd,
    touched: Touched,
}

/// What was read of a block.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Reading {
    slot: u32,
    action: Option<u32>,
    control: u32,
    /// The fields that are read, as bits.
    reads: u64,
    state: ReadingState,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum ReadingState {
    /// Values of the fields that were read.
    Fields(Vec<(u32, u32)>),
    /// The handler was run, and has seen the positions above.
    Runs(Rc<[Branch]>),
}

/// All slots that are split.
#[derive(Default)]
pub(crate) struct Blocks {
    /// Local states of a slot after which it is split; none is never.
    pub split_after: Option<usize>,
    /// Such slots are split in another search, and this one goes on.
    pub leaves_splitting: bool,
    blocks: FxHashMap<u32, Block>,
    /// Slots that are to be split, or whose inboxes need more positions.
    wishes: Vec<u32>,
    /// Slots that cannot be split.
    refused: Vec<u32>,
    readings: Vec<Reading>,
    reading_index: FxHashMap<Reading, u32>,
    /// By reading, part and value.
    next: FxHashMap<(u32, u32, u32), Option<u32>>,
    /// By slot, action and control: what [`MemoSteps::enter_block`] said.
    entered: FxHashMap<(u32, Option<u32>, u32), Option<u32>>,
    /// By slot and message: its value in the inbox.
    waiting: FxHashMap<(u32, InputId), u32>,
    /// By local state and value of a message: what is made of it.
    taken: FxHashMap<(LocalStateId, InputId), Rc<[Taken]>>,
    /// Other parties of own steps, and whether one is the network of a machine that was made.
    events: Vec<Vec<(u32, u32)>>,
    event_index: FxHashMap<Vec<(u32, u32)>, u32>,
    unknowns: Vec<StopReason>,
    cuts: Vec<Cut>,
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

    /// No more slots are split from now on; inboxes may still need more positions.
    pub fn settle(&mut self) {
        self.split_after = None;
        self.wishes.clear();
    }

    /// Whether slots are to be split, or inboxes need more positions.
    pub fn has_wishes(&self) -> bool {
        !self.wishes.is_empty()
    }

    fn wish(&mut self, slot: u32) {
        if !self.wishes.contains(&slot) {
            self.wishes.push(slot);
        }
    }

    pub fn n_parts(&self, slot: u32) -> u32 {
        self.blocks.get(&slot).map_or(1, |block| block.positions() + block.n_positions as u32)
    }

    pub fn n_values(&self, slot: u32, part: u32) -> u32 {
        let Some(block) = self.blocks.get(&slot) else { return 0 };
        match part {
            CONTROL => block.controls.values.len() as u32,
            part if part >= block.positions() => block.messages.values.len() as u32,
            field => block.fields[(field - FIELDS) as usize].values.len() as u32,
        }
    }

    pub fn n_bytes(&self) -> usize {
        self.readings.capacity() * (2 * size_of::<Reading>() + 64)
            + self.next.capacity() * 21
            + self.entered.capacity() * 25
            + self.taken.capacity() * 80
            + self.n_words * 24
    }

    fn control(&self, slot: u32, value: u32) -> Option<&Local> {
        let block = self.blocks.get(&slot)?;
        (value > BROKEN).then(|| &block.controls.values[value as usize])
    }

    pub fn control_state(&self, slot: u32, value: u32) -> Option<ControlId> {
        self.control(slot, value).map(|local| local.control)
    }

    pub fn standing(&self, slot: u32, value: u32) -> Option<(MachineId, ControlId)> {
        let local = self.control(slot, value)?;
        Some((kind_of(local)?, local.control))
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
    fn values(&mut self, slot: u32, id: LocalStateId, locals: &LocalStates<'_>) -> Vec<u32> {
        let local = locals.local(id);
        let mut values = self.values_without_inbox(slot, local);
        let Some(block) = self.blocks.get_mut(&slot) else { return values };
        let n_positions = block.n_positions;
        for message in local.inbox.iter().take(n_positions) {
            values.push(block.messages.value(&message_key(message), || *message));
        }
        values.resize((block.positions() as usize) + n_positions, EMPTY);
        if local.inbox.len() > n_positions {
            self.wish(slot);
        }
        values
    }

    /// The same for control and fields.
    fn values_without_inbox(&mut self, slot: u32, local: &Local) -> Vec<u32> {
        let Some(block) = self.blocks.get_mut(&slot) else { return Vec::new() };
        let n_fields = block.fields.len();
        let mut control = local.clone();
        control.inbox.clear();
        control.registers.iter_mut().take(n_fields).for_each(|value| *value = Value::NULL);
        let mut key = Vec::new();
        words(&control, &mut key);
        let n_controls = block.controls.values.len();
        let mut values = vec![block.controls.value(&key, || control)];
        if block.controls.values.len() > n_controls {
            self.n_words += key.len() + 32;
        }
        for (at, field) in block.fields.iter_mut().enumerate() {
            values.push(match local.registers.get(at) {
                Some(&value) => field.value(&[value.bits()], || value),
                None => 0,
            });
        }
        let control = values[CONTROL as usize] as usize;
        if block.examples.len() <= control {
            block.examples.resize(control + 1, Box::default());
        }
        if block.examples[control].is_empty() {
            block.examples[control] = values.clone().into();
        }
        values
    }

    /// A local by the values of control and fields, with an empty inbox.
    fn local_without_inbox(&self, slot: u32, values: &[u32]) -> Option<(Owner, Local)> {
        let block = self.blocks.get(&slot)?;
        let mut local = self.control(slot, values[CONTROL as usize])?.clone();
        for (register, (field, &value)) in
            local.registers.iter_mut().zip(block.fields.iter().zip(&values[FIELDS as usize..]))
        {
            *register = field.values[value as usize];
        }
        Some((block.owner, local))
    }

    /// A local state by its parts; zero where there is none.
    fn local_state(&mut self, slot: u32, values: &[u32], locals: &mut LocalStates<'_>) -> LocalStateId {
        let Some((owner, mut local)) = self.local_without_inbox(slot, values) else {
            return LocalStateId::ABSENT;
        };
        let Some(block) = self.blocks.get(&slot) else { return LocalStateId::ABSENT };
        let inbox = values[block.positions() as usize..].iter().take_while(|&&value| value != EMPTY);
        local.inbox.extend(inbox.map(|&value| block.messages.values[value as usize]));
        locals.intern_local(owner, &mut local, false)
    }

    fn reading(&mut self, reading: Reading) -> u32 {
        if let Some(&known) = self.reading_index.get(&reading) {
            return known;
        }
        let number = self.readings.len() as u32;
        if let ReadingState::Runs(branches) = &reading.state {
            self.n_words += 8 * branches.len();
        }
        self.readings.push(reading.clone());
        self.reading_index.insert(reading, number);
        number
    }

    /// Makes a note that more is read; says whether that is so.
    fn reads_more(&mut self, reading: &Reading, reads: u64) -> bool {
        let &Reading { slot, action, control, reads: known, .. } = reading;
        if reads & !known == 0 {
            return false;
        }
        self.entered.remove(&(slot, action, control));
        if let Some(block) = self.blocks.get_mut(&slot) {
            *block.known_reads.entry((action, control)).or_default() |= known | reads;
        }
        true
    }

    fn end(&mut self, end: Ending) -> BranchEnd {
        match end {
            Ending::Stands(id) => BranchEnd::Stands(id),
            Ending::Fault(..) => BranchEnd::Fault,
            Ending::Unknown(reason) => {
                let known = self.unknowns.iter().position(|known| *known == reason);
                BranchEnd::Unknown(known.unwrap_or_else(|| {
                    self.unknowns.push(reason);
                    self.unknowns.len() - 1
                }) as u32)
            }
            Ending::Cut(cut) => {
                self.cuts.push(cut);
                BranchEnd::Cut(self.cuts.len() as u32 - 1)
            }
        }
    }

    fn event(&mut self, parties: Vec<(u32, u32)>) -> u32 {
        let next = self.events.len() as u32;
        let event = *self.event_index.entry(parties.clone()).or_insert(next);
        if event == next {
            self.events.push(parties);
        }
        event
    }
}

fn message_key(message: &Message) -> [u64; 2] {
    [u64::from(message.event.as_u32()), message.payload.bits()]
}

impl MemoSteps<'_> {
    /// Whether a search has to begin again, with more levels.
    pub fn must_restart(&self) -> bool {
        self.blocks.has_wishes() && !self.blocks.leaves_splitting
    }

    /// Splits the slots that have too many local states and were not split before. Returns whether there were any.
    pub fn split_like(&mut self, whole: &mut MemoSteps<'_>) -> bool {
        for slot in whole.blocks.wishes.clone() {
            if let Some(block) = whole.plan(slot) {
                self.blocks.blocks.insert(slot, block);
            }
        }
        !self.blocks.is_empty()
    }

    /// A slot by its parts, if it can be split.
    fn plan(&mut self, slot: u32) -> Option<Block> {
        let (owner, id) = (self.owner(slot)?, self.local(slot, BROKEN + 1));
        let locals = self.expander.memo.locals();
        let machine = locals.local(id).machine;
        let n_fields = locals.exe.machines[machine].fields.len();
        let is_possible = !matches!(owner, Owner::Network(_)) && n_fields < Touched::MAX_FIELDS;
        let longest = self.locals_of(slot).map(|id| locals.local(id).inbox.len()).max().unwrap_or(0);
        drop(locals);
        let n_positions = match owner {
            Owner::Machine(_) => (longest + 1).max(FIRST_POSITIONS),
            Owner::Monitor(_) | Owner::Network(_) => 0,
        };
        if !is_possible || longest > MAX_POSITIONS || n_fields + n_positions == 0 {
            return None;
        }
        let none = Message { event: EventId::HALT, payload: Value::NULL };
        Some(Block {
            owner,
            controls: Table::new(vec![Local::default(), Local::default()]),
            messages: Table::new(vec![none]),
            fields: (0..n_fields).map(|_| Table::new(vec![Value::NULL])).collect(),
            n_positions,
            examples: Vec::new(),
            known_reads: FxHashMap::default(),
        })
    }

    /// Splits the slots that have too many local states, where that is possible, and gives inboxes more positions.
    pub fn split_slots(&mut self) {
        let wishes = std::mem::take(&mut self.blocks.wishes);
        let mut has_grown = false;
        for slot in wishes {
            if let Some(block) = self.blocks.blocks.get_mut(&slot) {
                block.n_positions = (2 * block.n_positions).max(FIRST_POSITIONS);
                has_grown = true;
                continue;
            }
            match self.plan(slot) {
                Some(block) => drop(self.blocks.blocks.insert(slot, block)),
                None => self.blocks.refused.push(slot),
            }
        }
        if has_grown {
            // They name positions that may have been the last.
            self.blocks.next.clear();
            self.blocks.entered.clear();
            self.blocks.readings.clear();
            self.blocks.reading_index.clear();
        }
        if !self.blocks.is_empty() && !self.expander.memo.locals().records_touched {
            self.expander.memo.locals().records_touched = true;
            // Outcomes differ more now, so they have other numbers.
            self.blocks.n_runs += self.expander.memo.n_misses;
            self.expander = self.cx.expander();
        }
    }

    /// The values of a local state of a slot that does not run on, from the first part on; one if the slot is not split.
    pub fn values_of_parts(&mut self, slot: u32, id: LocalStateId) -> Box<[u32]> {
        match self.blocks.is_split(slot) {
            false => self.values(slot, id)[..].into(),
            true if id.is_absent() => vec![0; self.blocks.n_parts(slot) as usize].into(),
            true => {
                let locals = self.expander.memo.locals();
                self.blocks.values(slot, id, &locals).into()
            }
        }
    }

    /// The local state with these values, from the first part on.
    pub fn local_of_parts(&mut self, slot: u32, values: &[u32]) -> LocalStateId {
        if !self.blocks.is_split(slot) {
            // Behind an outbox it is not known what the kernel's local state is.
            let state = values.first().map(|&value| self.state(slot, value));
            return state
                .filter(|state| state.outbox == NOTHING_AHEAD)
                .map_or(LocalStateId::ABSENT, |state| state.local);
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
}

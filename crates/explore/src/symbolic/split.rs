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

use std::rc::Rc;

use allways_machine::content::words;
use allways_machine::invariant::kind_of;
use allways_machine::ir::{ControlId, EventId, MachineId};
use allways_machine::{Local, Message, Pending, Status, Touched, Value, rules};
use allways_mdd::{BlockStep, Halt};
use allways_run::StopReason;
use rules::must_wait;
use rustc_hash::FxHashMap;

use super::eager::NOTHING_AHEAD;
use super::steps::{ABSENT, Action, BROKEN, MemoSteps};
use crate::search::context::Cuts;
use crate::search::local::states::{Act, Cut, Ending, LocalStateId, LocalStates, Owner};

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
    waiting: FxHashMap<(u32, u32), u32>,
    /// By local state and value of a message: what is made of it.
    taken: FxHashMap<(LocalStateId, u32), Rc<[Taken]>>,
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
        let Some((owner, mut local)) = self.local_without_inbox(slot, values) else { return 0 };
        let Some(block) = self.blocks.get(&slot) else { return 0 };
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

/// Fields that a step writes, as bits: those that the kernel says, and all that differ. Whoever halts or is about to fail keeps nothing.
fn written(before: &Local, after: &Local, touched: Touched) -> u64 {
    let mut writes = touched.writes;
    for (at, value) in before.registers.iter().enumerate().take(Touched::MAX_FIELDS) {
        if after.registers.get(at) != Some(value) {
            writes |= 1 << at;
        }
    }
    writes & !KEEPS
}

fn has_nothing(local: &Local) -> bool {
    matches!(local.status, Status::Halted | Status::Pending(Pending::Fault(_)))
}

/// Whether a machine that stood so, and stands so now, has looked into its inbox and may find something. Who had nothing to take in the
/// same place before has nothing now.
fn looks(before: &Local, after: &Local) -> bool {
    let waits = matches!(after.status, Status::Idle | Status::Blocked { .. });
    waits && (before.status != after.status || before.control != after.control)
}

impl MemoSteps<'_> {
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
            let (Some(owner), id) = (self.owner(slot), self.local(slot, BROKEN + 1)) else { continue };
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
                self.blocks.refused.push(slot);
                continue;
            }
            let none = Message { event: EventId::HALT, payload: Value::NULL };
            let block = Block {
                owner,
                controls: Table::new(vec![Local::default(), Local::default()]),
                messages: Table::new(vec![none]),
                fields: (0..n_fields).map(|_| Table::new(vec![Value::NULL])).collect(),
                n_positions,
                examples: Vec::new(),
                known_reads: FxHashMap::default(),
            };
            self.blocks.blocks.insert(slot, block);
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
            true if id == 0 => vec![0; self.blocks.n_parts(slot) as usize].into(),
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
            return state.filter(|state| state.outbox == NOTHING_AHEAD).map_or(0, |state| state.local);
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

    /// The value that a message has in an inbox: what nothing reads of it is left out.
    fn waiting(&mut self, slot: u32, message: u32, control: u32) -> Option<u32> {
        if let Some(&known) = self.blocks.waiting.get(&(slot, message)) {
            return Some(known);
        }
        let values = self.blocks.blocks.get(&slot)?.examples.get(control as usize)?.clone();
        let (owner, mut local) = self.blocks.local_without_inbox(slot, &values)?;
        let mut locals = self.expander.memo.locals();
        local.inbox.push_back(locals.messages[message as usize]);
        let id = locals.intern_local(owner, &mut local, false);
        let message_there = *locals.local(id).inbox.front()?;
        drop(locals);
        let block = self.blocks.blocks.get_mut(&slot)?;
        let value = block.messages.value(&message_key(&message_there), || message_there);
        self.blocks.waiting.insert((slot, message), value);
        Some(value)
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
    fn run(&mut self, reading: &Reading, read: &[(u32, u32)]) -> Result<Option<Vec<Branch>>, Halt> {
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
                    (locals.fates(message), locals.messages[message as usize])
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
                    branches.extend(taken.iter().map(|one| Branch {
                        tail: if drops { Vec::new() } else { tail.clone() },
                        ..self.first_branch(&locals, id, *one, None)
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
    fn first_branch(
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

    fn run_monitor(&mut self, reading: &Reading, id: LocalStateId, messages: &[u32]) -> Option<Vec<Branch>> {
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
    fn run_own(&mut self, reading: &Reading, id: LocalStateId) -> Option<Vec<Branch>> {
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
                parties.push((target, self.action(Action::Deliver(message))));
            }
            let stands = matches!(outcome.end, Ending::Stands(_));
            self.add_observers(&outcome.observed, Action::Observe, &mut parties);
            if let (true, Some((created, id))) = (stands, outcome.created) {
                parties.push((created, self.action(Action::Create(id))));
            }
            if let (true, Some((network, operation))) = (stands, outcome.birth) {
                parties.push((network, self.action(Action::NoteCreation(operation))));
            }
            let event = Some(self.blocks.event(parties));
            let end = self.blocks.end(outcome.end);
            let locals = self.expander.memo.locals();
            let branch = self.first_branch(&locals, id, Taken { end, touched: outcome.touched }, event);
            branches.push(Branch { tail: tail.clone(), ..branch });
        }
        Some(branches)
    }

    /// What a machine that looks into its inbox makes of a message.
    fn take(&mut self, id: LocalStateId, message: Message) -> Rc<[Taken]> {
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
    fn see(&mut self, reading: &Reading, branches: &[Branch], part: u32, value: u32) -> Option<Rc<[Branch]>> {
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
    fn see_message(
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
    fn see_end(
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

    fn is_observed(&self, action: u32) -> bool {
        matches!(self.actions[action as usize], Action::Observe(_))
    }

    /// What a step writes, and which positions it takes out.
    fn writes(&mut self, slot: u32, branch: &Branch, id: LocalStateId) -> (Vec<(u32, u32)>, Vec<u32>) {
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

/// The fields that some outcome has read.
fn all_reads(taken: &[Taken]) -> u64 {
    taken.iter().fold(0, |reads, one| reads | one.touched.reads & !KEEPS)
}

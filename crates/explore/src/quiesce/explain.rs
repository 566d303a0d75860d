//! What a lap does, for people: which machines feed each other, what changes, what piles up, what starves.

use std::collections::BTreeMap;

use allways_base::Idx;
use allways_machine::ir::EventId;
use allways_machine::value::Form;
use allways_machine::{DataPoint, Kernel, Message, Note, Oracle, Recorder, Scene, Status, must_wait};
use allways_run::{Choice, InstanceId, NetworkModel};

use super::certify::{Certificate, Pile};
use crate::search::counterexample::StepName;
use crate::search::local::states::Given;

/// One turn round the loop.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Turn {
    /// Messages sent in a turn, by sender, receiver and event, in the order in which they come first.
    pub sends: Vec<Sends>,
    /// Machines that take part, in the order in which they come first.
    pub machines: Vec<Part>,
    /// Messages that pile up.
    pub piles: Vec<PileUp>,
    /// Machines made in a turn.
    pub n_created: u64,
    /// What could always happen in the loop and never does. A fair scheduler would not go on like that.
    pub starved: Vec<String>,
    /// Machines that send without ever finishing a handler.
    pub endless_handlers: Vec<String>,
}

/// Messages from one machine to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sends {
    pub from: String,
    pub to: String,
    pub event: String,
    pub n: u64,
}

/// What a machine does in a turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    pub machine: String,
    /// The control states it goes through, one after the other; one if it stays.
    pub states: Vec<String>,
    /// Variables that change, each with its values one after the other.
    pub variables: Vec<(String, Vec<String>)>,
    /// Messages it takes.
    pub n_taken: u64,
}

/// Messages that a turn leaves behind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PileUp {
    /// None for an inbox.
    pub from: Option<String>,
    pub to: String,
    pub event: String,
    pub n_each_turn: u64,
}

/// Values of one variable that are kept.
const MAX_VALUES: usize = 8;
/// Characters of a value.
const MAX_TEXT: usize = 60;

/// Notes of a lap.
#[derive(Default)]
struct Notes {
    sends: Vec<(InstanceId, InstanceId, EventId, u64)>,
    /// In order of appearance.
    order: Vec<InstanceId>,
    taken: BTreeMap<InstanceId, u64>,
    n_created: u64,
}

impl Notes {
    fn meet(&mut self, machine: InstanceId) {
        if !self.order.contains(&machine) {
            self.order.push(machine);
        }
    }
}

impl Recorder for Notes {
    fn record(&mut self, _: &Scene<'_>, note: Note) {
        match note {
            Note::Send { machine, target, message, .. } => {
                self.meet(machine);
                let known = self
                    .sends
                    .iter_mut()
                    .find(|(from, to, event, _)| (*from, *to, *event) == (machine, target, message.event));
                match known {
                    Some((.., n)) => *n += 1,
                    None => self.sends.push((machine, target, message.event, 1)),
                }
            }
            Note::Dequeue { machine, .. } | Note::Receive { machine, .. } => {
                self.meet(machine);
                *self.taken.entry(machine).or_default() += 1;
            }
            Note::Create { creator: Some(creator), .. } => {
                self.meet(creator);
                self.n_created += 1;
            }
            _ => {}
        }
    }
}

/// Makes the second lap from where the kernel stands, and says what happens in it. What piles up is there by then, so that fairness
/// knows of it.
pub(crate) fn turn(
    kernel: &mut Kernel,
    lap: &[StepName],
    certificate: &Certificate,
    is_stimulus: &[bool],
) -> Turn {
    let mut notes = Notes::default();
    let mut watched: BTreeMap<InstanceId, Watched> = BTreeMap::new();
    let mut fairness = Fairness { is_stimulus, ..Fairness::default() };
    watch(kernel, &mut watched);
    let mut stepped: Vec<InstanceId> = Vec::new();
    for step in lap {
        fairness.before(kernel, step.choice);
        let given = Given { answers: &step.answers, at: 0 };
        let mut answers = Noting { given, flips: &mut fairness.flips };
        if kernel.take(step.choice, &mut answers, &mut notes).is_err() {
            break;
        }
        if let Choice::Machine(machine) = step.choice {
            notes.meet(machine);
            stepped.push(machine);
        }
        watch(kernel, &mut watched);
    }
    let piles: &[Pile] = match certificate {
        Certificate::Repeats => &[],
        Certificate::Grows(piles) => piles,
    };
    let starved = fairness.starved(kernel);
    let scene = kernel.scene();
    let name = |instance: InstanceId| scene.name(instance);
    let mut endless: Vec<InstanceId> = Vec::new();
    for &machine in &stepped {
        if !notes.taken.contains_key(&machine) && !endless.contains(&machine) {
            endless.push(machine);
        }
    }
    Turn {
        sends: notes
            .sends
            .iter()
            .map(|&(from, to, event, n)| Sends {
                from: name(from),
                to: name(to),
                event: scene.exe.event_name(event).to_owned(),
                n,
            })
            .collect(),
        machines: notes
            .order
            .iter()
            .map(|&machine| {
                let watched = watched.remove(&machine).unwrap_or_default();
                Part {
                    machine: name(machine),
                    states: watched.states,
                    variables: watched.variables.into_iter().filter(|(_, values)| values.len() > 1).collect(),
                    n_taken: notes.taken.get(&machine).copied().unwrap_or(0),
                }
            })
            .collect(),
        piles: piles
            .iter()
            .map(|pile| PileUp {
                from: pile.source.map(name),
                to: name(pile.target),
                event: scene.exe.event_name(pile.event).to_owned(),
                n_each_turn: pile.n_each_lap as u64,
            })
            .collect(),
        n_created: notes.n_created,
        starved,
        endless_handlers: endless.into_iter().map(name).collect(),
    }
}

/// Where a machine was in the course of a lap.
#[derive(Default)]
struct Watched {
    states: Vec<String>,
    variables: Vec<(String, Vec<String>)>,
}

/// Adds where machines stand now to where they were.
fn watch(kernel: &Kernel, watched: &mut BTreeMap<InstanceId, Watched>) {
    let scene = kernel.scene();
    for (instance, local) in kernel.configuration().instances() {
        if local.status == Status::Halted {
            continue;
        }
        let known = watched.entry(instance).or_default();
        let state = scene.exe.state_name(local.control);
        if known.states.last().is_none_or(|last| last != state) {
            known.states.push(state.to_owned());
        }
        let def = &scene.exe.machines[local.machine];
        for (at, (&(field, _), &value)) in def.fields.iter().zip(&local.registers).enumerate() {
            let text = match def.notations.get(at) {
                Some(notation) => scene.text_as(notation, value),
                None => scene.text(Form::Log, value),
            };
            if known.variables.len() <= at {
                known.variables.push((scene.exe.symbols.text(field).to_owned(), Vec::new()));
            }
            let values = &mut known.variables[at].1;
            let text = shorten(text);
            if values.last() != Some(&text) && values.len() <= MAX_VALUES {
                values.push(text);
            }
        }
    }
}

fn shorten(text: String) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// What could move all through a lap, and did not.
#[derive(Default)]
struct Fairness<'a> {
    is_stimulus: &'a [bool],
    /// What could move before every step so far.
    waiting: Option<Vec<Waiting>>,
    moved: Vec<Waiting>,
    /// Messages that their targets would have taken before some step.
    takeable: Vec<Waiting>,
    /// `$$` by machine and place in the code, with the answers that were given.
    flips: BTreeMap<(InstanceId, u32), Vec<bool>>,
}

/// What may wait for its turn: a machine, a channel, or, where no order is kept, a message.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Waiting {
    Mover(Choice),
    Message(InstanceId, InstanceId, Message),
}

/// Gives answers, and notes those of `$$`.
struct Noting<'a, 'b> {
    given: Given<'a>,
    flips: &'b mut BTreeMap<(InstanceId, u32), Vec<bool>>,
}

impl Oracle for Noting<'_, '_> {
    fn answer(&mut self, point: DataPoint) -> u32 {
        let answer = self.given.answer(point);
        if point.is_fair {
            let seen = self.flips.entry((point.machine, point.pc)).or_default();
            seen.resize(point.n_answers as usize, false);
            seen[answer.min(point.n_answers - 1) as usize] = true;
        }
        answer
    }
}

impl Fairness<'_> {
    fn of(kernel: &Kernel, choice: Choice) -> Waiting {
        let model = kernel.executable().network.model;
        match choice {
            Choice::Deliver { target, source, place } if model == NetworkModel::Bag => {
                let mut flight = kernel.configuration().network.clone();
                let message = flight.position(source, target).and_then(|at| flight.deliver(model, at, place));
                message.map_or(Waiting::Mover(choice), |message| Waiting::Message(source, target, message))
            }
            other => Waiting::Mover(other.mover()),
        }
    }

    fn before(&mut self, kernel: &Kernel, choice: Choice) {
        let conf = kernel.configuration();
        let counts = |choice: &Choice| match choice {
            Choice::Machine(machine) => {
                let machine = conf.local(*machine).machine;
                !self.is_stimulus.get(machine.index()).copied().unwrap_or(false)
            }
            _ => true,
        };
        let here: Vec<Waiting> =
            kernel.choices().filter(counts).map(|choice| Fairness::of(kernel, choice)).collect();
        for &it in &here {
            if let Waiting::Message(_, target, message) = it
                && !must_wait(kernel.executable(), conf.local(target), message.event)
                && !self.takeable.contains(&it)
            {
                self.takeable.push(it);
            }
        }
        self.moved.push(Fairness::of(kernel, choice));
        match &mut self.waiting {
            None => self.waiting = Some(here),
            Some(waiting) => waiting.retain(|it| here.contains(it)),
        }
    }

    /// What a fair scheduler would have let move, in words.
    fn starved(&self, kernel: &Kernel) -> Vec<String> {
        let scene = kernel.scene();
        let mut texts: Vec<String> = Vec::new();
        for it in self.waiting.iter().flatten().filter(|it| !self.moved.contains(it)) {
            texts.push(match *it {
                Waiting::Mover(Choice::Machine(machine)) => format!("{} never steps", scene.name(machine)),
                Waiting::Mover(Choice::Deliver { target, source, .. }) => {
                    format!("nothing of what {} sent to {} arrives", scene.name(source), scene.name(target))
                }
                Waiting::Mover(Choice::Crash(_) | Choice::Data(_)) => continue,
                // It would wait in the inbox instead.
                Waiting::Message(..) if !self.takeable.contains(it) => continue,
                Waiting::Message(source, target, message) => {
                    let event = scene.exe.event_name(message.event);
                    format!("{event} from {} never arrives at {}", scene.name(source), scene.name(target))
                }
            });
        }
        for ((machine, _), _) in self.flips.iter().filter(|(_, seen)| seen.contains(&false)) {
            texts.push(format!("a `$$` of {} gives one answer only", scene.name(*machine)));
        }
        texts.dedup();
        texts
    }
}

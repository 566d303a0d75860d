//! Reports what happens in a step to a recorder.
//!
//! The kernel is generic in its [`Recorder`]; the one that records nothing costs nothing.

use allways_base::{Interner, Span};
use allways_run::{Choice, InstanceId};

use crate::Executable;
use crate::configuration::{Configuration, Message, Roster};
use crate::ir::{ControlId, EventId, ReceiveId};
use crate::value::{
    Form, InstanceNames, Notation, ProgramNames, REF_CLOSE, REF_OPEN, Shapes, Store, Value, write_value,
    write_value_as,
};

/// The machine or monitor that does something.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Actor {
    Machine(InstanceId),
    /// By place in the test.
    Monitor(u32),
}

/// Something that happened. States, events and spans are numbers and places of the executable.
#[derive(Clone, Copy, Debug)]
pub enum Note {
    /// A choice was made; one that is not of data opens the step.
    Chosen(Choice),
    Create {
        creator: Option<InstanceId>,
        created: InstanceId,
        payload: Value,
        span: Option<Span>,
    },
    Send {
        machine: InstanceId,
        state: ControlId,
        target: InstanceId,
        message: Message,
        span: Option<Span>,
    },
    /// The message is lost in the network.
    Lose {
        machine: InstanceId,
        target: InstanceId,
        message: Message,
    },
    /// The message goes twice.
    Duplicate {
        machine: InstanceId,
        target: InstanceId,
        message: Message,
    },
    /// The network brings the message to its target.
    Arrive {
        source: InstanceId,
        target: InstanceId,
        message: Message,
    },
    /// The machine stops for good, whatever it was doing.
    Crash {
        machine: InstanceId,
        state: ControlId,
        n_discarded: usize,
    },
    /// The message met a halted target.
    Drop {
        machine: InstanceId,
        target: InstanceId,
        message: Message,
    },
    Dequeue {
        machine: InstanceId,
        state: ControlId,
        message: Message,
    },
    Receive {
        machine: InstanceId,
        state: ControlId,
        message: Message,
    },
    /// Blocked in the `receive` of this table.
    Wait {
        machine: InstanceId,
        state: ControlId,
        table: ReceiveId,
    },
    Raise {
        actor: Actor,
        state: ControlId,
        message: Message,
        span: Span,
    },
    Goto {
        actor: Actor,
        state: ControlId,
        target: ControlId,
    },
    Enter {
        actor: Actor,
        state: ControlId,
    },
    Exit {
        actor: Actor,
        state: ControlId,
    },
    Announce {
        machine: InstanceId,
        state: ControlId,
        message: Message,
        span: Span,
    },
    Observe {
        monitor: u32,
        state: ControlId,
        machine: InstanceId,
        message: Message,
        /// Of a send.
        target: Option<InstanceId>,
        span: Span,
    },
    /// A variable is assigned, perhaps the value that it has; only for recorders with [`Recorder::WRITES`].
    Assign {
        actor: Actor,
        field: u32,
    },
    /// An answer of `$` or `choose`.
    Answer {
        machine: InstanceId,
        answer: u32,
        n_answers: u32,
        /// What `choose` was given; null for `$`.
        source: Value,
        span: Span,
    },
    /// A string of the store.
    Print {
        actor: Actor,
        text: Value,
        span: Span,
    },
    Halt {
        machine: InstanceId,
        n_discarded: usize,
    },
}

/// What a recorder needs to make sense of a [`Note`].
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub exe: &'a Executable,
    pub store: &'a Store,
    pub roster: &'a Roster,
}

impl Scene<'_> {
    /// A machine as people know it: `Client(3)`.
    pub fn name(&self, instance: InstanceId) -> String {
        let mut out = String::new();
        self.write_instance(instance, &mut out);
        out
    }

    pub fn actor_name(&self, actor: Actor) -> String {
        match actor {
            Actor::Machine(instance) => self.name(instance),
            Actor::Monitor(monitor) => self.exe.monitor_name(monitor as usize).to_owned(),
        }
    }

    /// The text of a value, with machines as people know them.
    pub fn text(&self, form: Form, value: Value) -> String {
        let mut out = String::new();
        write_value(self.store, self, form, value, &mut out);
        self.reveal(&out)
    }

    /// The same of a payload, with the names of enums.
    pub fn text_as(&self, notation: &Notation, value: Value) -> String {
        let mut out = String::new();
        write_value_as(self.store, self, Form::Log, notation, value, &mut out);
        self.reveal(&out)
    }

    /// Puts `Name(number)` in place of the paths that strings of a run hold.
    pub fn reveal(&self, text: &str) -> String {
        reveal(self.exe, self, text)
    }
}

/// Puts names in place of the paths that strings of a run hold.
pub fn reveal(exe: &Executable, names: &dyn InstanceNames, text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(REF_OPEN) {
        out.push_str(before);
        let (path, after) = after.split_once(REF_CLOSE).unwrap_or((after, ""));
        match exe.instance_at(path) {
            Some(instance) => names.write_instance(instance, &mut out),
            None => out.push_str(path),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

impl InstanceNames for Scene<'_> {
    fn write_instance(&self, instance: InstanceId, out: &mut String) {
        let number = self.roster.number(instance).unwrap_or(0);
        let name = match number {
            0 => "?",
            _ => self.exe.interface_name(self.roster.interface(instance)),
        };
        out.push_str(&format!("{name}({number})"));
    }

    fn program(&self) -> &dyn ProgramNames {
        self.exe
    }
}

impl ProgramNames for Executable {
    fn event_name(&self, event: EventId) -> &str {
        self.event_name(event)
    }

    fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    fn symbols(&self) -> &Interner {
        &self.symbols
    }
}

/// Names for strings that are part of the state: paths, which do not depend on the interleaving.
pub(crate) struct PathNames<'a>(pub &'a Executable);

impl InstanceNames for PathNames<'_> {
    fn write_instance(&self, instance: InstanceId, out: &mut String) {
        out.push(REF_OPEN);
        out.push_str(&self.0.instance_path(instance));
        out.push(REF_CLOSE);
    }

    fn program(&self) -> &dyn ProgramNames {
        self.0
    }
}

/// Hears what happens.
pub trait Recorder {
    /// Whether it listens at all; code for recorders that do not is left out.
    const ON: bool = true;
    /// Whether it hears of assignments to variables.
    const WRITES: bool = false;

    fn record(&mut self, scene: &Scene<'_>, note: Note);

    /// Before a step is made by this choice, which can be made.
    fn before_step(&mut self, _: &Scene<'_>, _: &Configuration, _: Choice) {}

    /// After a step and all that it caused. One that is cut ended in the middle, by a violation or a limit.
    fn after_step(&mut self, _: &Scene<'_>, _: &Configuration, _is_cut: bool) {}
}

/// Hears nothing.
#[derive(Clone, Copy, Default, Debug)]
pub struct Silent;

impl Recorder for Silent {
    const ON: bool = false;

    fn record(&mut self, _: &Scene<'_>, _: Note) {}
}

impl<R: Recorder> Recorder for &mut R {
    const ON: bool = R::ON;

    fn record(&mut self, scene: &Scene<'_>, note: Note) {
        (**self).record(scene, note);
    }

    fn before_step(&mut self, scene: &Scene<'_>, conf: &Configuration, choice: Choice) {
        (**self).before_step(scene, conf, choice);
    }

    fn after_step(&mut self, scene: &Scene<'_>, conf: &Configuration, is_cut: bool) {
        (**self).after_step(scene, conf, is_cut);
    }
}

//! Lifted local states: where a machine or monitor stands, depending on guards.
//!
//! Control is concrete and data is lifted. A [`Point`] is everything of a local state but its values: control state, frames,
//! what it waits for. A [`LiftedLocal`] says under which guard it stands at which point, and has one summary for each
//! register, whatever the point; the domain of a register is where it exists and may still be read.

use allways_machine::configuration::{After, Fault, Frame};
use allways_machine::ir::{ControlId, EventId, FunId, InterfaceId, MachineId, Operand, ReceiveId};
use allways_machine::{Local, Message, Pending, Status, Value};
use allways_run::InstanceId;
use rustc_hash::FxHashMap;

use crate::guard::Guard;
use crate::summary::{Shared, Values};

/// A local state without its values.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Point {
    pub machine: MachineId,
    pub interface: InterfaceId,
    pub control: ControlId,
    pub stand: Stand,
    pub after: AfterPoint,
    pub n_children: u32,
    pub frames: Vec<Frame>,
    pub n_registers: u32,
}

/// What a local state waits for, or is about to do. Payloads are elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stand {
    Idle,
    Start,
    Observe,
    Deliver {
        target: InstanceId,
        event: EventId,
    },
    Create {
        interface: InterfaceId,
        dst: Operand,
    },
    /// By its number in [`Points::faults`].
    Fault(u32),
    Foreign(FunId),
    Blocked(ReceiveId),
    Halted,
}

/// [`After`] without payloads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AfterPoint {
    Handler,
    Exit { target: ControlId, with: Option<FunId> },
    With { target: ControlId },
    Unhandled { event: EventId },
}

impl From<After> for AfterPoint {
    fn from(after: After) -> Self {
        match after {
            After::Handler => AfterPoint::Handler,
            After::Exit { target, with, .. } => AfterPoint::Exit { target, with },
            After::With { target, .. } => AfterPoint::With { target },
            After::Unhandled { event } => AfterPoint::Unhandled { event },
        }
    }
}

impl AfterPoint {
    /// With this payload, if it has one.
    pub fn with_payload(self, payload: Value) -> After {
        match self {
            AfterPoint::Handler => After::Handler,
            AfterPoint::Exit { target, with } => After::Exit { target, with, payload },
            AfterPoint::With { target } => After::With { target, payload },
            AfterPoint::Unhandled { event } => After::Unhandled { event },
        }
    }

    pub fn has_payload(self) -> bool {
        matches!(self, AfterPoint::Exit { .. } | AfterPoint::With { .. })
    }
}

impl Point {
    pub fn of(local: &Local, stand: Stand) -> Point {
        Point {
            machine: local.machine,
            interface: local.interface,
            control: local.control,
            stand,
            after: local.after.into(),
            n_children: local.n_children,
            frames: local.frames.clone(),
            n_registers: local.registers.len() as u32,
        }
    }

    /// The point as a local state in which all values are null.
    pub fn local(&self) -> Local {
        let status = match self.stand {
            Stand::Idle => Status::Idle,
            Stand::Blocked(table) => Status::Blocked { table },
            Stand::Halted => Status::Halted,
            Stand::Start => Status::Pending(Pending::Start),
            Stand::Observe => Status::Pending(Pending::Observe),
            Stand::Deliver { target, event } => {
                Status::Pending(Pending::Deliver { target, message: Message { event, payload: Value::NULL } })
            }
            Stand::Create { interface, dst } => {
                Status::Pending(Pending::Create { interface, payload: Value::NULL, dst })
            }
            // Which fault it is does not matter to others.
            Stand::Fault(_) => Status::Pending(Pending::Start),
            Stand::Foreign(fun) => Status::Pending(Pending::Foreign { fun }),
        };
        Local {
            status,
            machine: self.machine,
            interface: self.interface,
            control: self.control,
            after: self.after.with_payload(Value::NULL),
            n_children: self.n_children,
            frames: self.frames.clone(),
            registers: vec![Value::NULL; self.n_registers as usize],
            ..Local::default()
        }
    }
}

/// All points met so far, by number.
#[derive(Default)]
pub struct Points {
    list: Vec<Point>,
    numbers: FxHashMap<Point, u32>,
    pub faults: Vec<Fault>,
}

impl Points {
    pub fn number(&mut self, point: Point) -> u32 {
        if let Some(&number) = self.numbers.get(&point) {
            return number;
        }
        let number = self.list.len() as u32;
        self.list.push(point.clone());
        self.numbers.insert(point, number);
        number
    }

    pub fn get(&self, number: u32) -> &Point {
        &self.list[number as usize]
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn fault(&mut self, fault: Fault) -> u32 {
        let known = self.faults.iter().position(|known| *known == fault);
        known.unwrap_or_else(|| {
            self.faults.push(fault);
            self.faults.len() - 1
        }) as u32
    }
}

/// A local state that depends on guards. Its domain is where the machine exists.
#[derive(Clone, Debug)]
pub struct LiftedLocal {
    /// By number of the point; guards are disjoint.
    pub points: Vec<(u32, Guard)>,
    /// The fields, then the registers of the frames.
    pub registers: Vec<Shared>,
    /// What a transition under way delivers to its target.
    pub after: Shared,
    /// The payload of the effect it stands before.
    pub pending: Shared,
    /// A sequence of pairs of event and payload.
    pub inbox: Shared,
}

impl LiftedLocal {
    pub fn nowhere(values: &Values<'_>) -> Self {
        LiftedLocal {
            points: Vec::new(),
            registers: Vec::new(),
            after: values.nothing(),
            pending: values.nothing(),
            inbox: values.nothing(),
        }
    }

    pub fn domain(&self, values: &mut Values<'_>) -> Guard {
        values.guards.any(self.points.iter().map(|&(_, guard)| guard))
    }

    /// Puts it at a point where the guard holds, at which it is nowhere so far.
    pub fn put(&mut self, values: &mut Values<'_>, point: u32, guard: Guard) {
        if guard.is_false() {
            return;
        }
        match self.points.binary_search_by_key(&point, |&(point, _)| point) {
            Ok(at) => self.points[at].1 = values.guards.or(self.points[at].1, guard),
            Err(at) => self.points.insert(at, (point, guard)),
        }
    }

    /// Takes it away from its points where the guard holds: the points left, and where.
    pub fn take(&mut self, values: &mut Values<'_>, guard: Guard) -> Vec<(u32, Guard)> {
        let mut taken = Vec::new();
        self.points.retain_mut(|(point, own)| {
            let both = values.guards.and(*own, guard);
            if !both.is_false() {
                taken.push((*point, both));
                *own = values.guards.minus(*own, guard);
            }
            !own.is_false()
        });
        taken
    }

    fn parts(&mut self) -> impl Iterator<Item = &mut Shared> {
        self.registers.iter_mut().chain([&mut self.after, &mut self.pending, &mut self.inbox])
    }

    /// Forgets everything where the guard does not hold.
    pub fn restrict(&mut self, values: &mut Values<'_>, guard: Guard) {
        self.points.retain_mut(|(_, own)| {
            *own = values.guards.and(*own, guard);
            !own.is_false()
        });
        for part in self.parts() {
            *part = values.restrict(part, guard);
        }
    }

    /// Where it is the same as the other, within a guard.
    pub fn same(&self, other: &LiftedLocal, values: &mut Values<'_>, within: Guard) -> Guard {
        let mut equal = Guard::FALSE;
        let (mut here, mut there) = (Guard::FALSE, Guard::FALSE);
        for &(point, guard) in &self.points {
            here = values.guards.or(here, guard);
            if let Ok(at) = other.points.binary_search_by_key(&point, |&(point, _)| point) {
                let both = values.guards.and(guard, other.points[at].1);
                equal = values.guards.or(equal, both);
            }
        }
        for &(_, guard) in &other.points {
            there = values.guards.or(there, guard);
        }
        let neither = values.guards.or(here, there).not();
        equal = values.guards.or(equal, neither);
        equal = values.guards.and(equal, within);
        let nothing = values.nothing();
        let pairs = (0..self.registers.len().max(other.registers.len())).map(|at| {
            (self.registers.get(at).unwrap_or(&nothing), other.registers.get(at).unwrap_or(&nothing))
        });
        let rest =
            [(&self.after, &other.after), (&self.pending, &other.pending), (&self.inbox, &other.inbox)];
        for (a, b) in pairs.chain(rest) {
            if equal.is_false() {
                break;
            }
            let same = values.same(a, b);
            equal = values.guards.and(equal, same);
        }
        equal
    }

    pub fn each_guard(&self, visit: &mut dyn FnMut(Guard)) {
        self.points.iter().for_each(|&(_, guard)| visit(guard));
        let parts = self.registers.iter().chain([&self.after, &self.pending, &self.inbox]);
        parts.for_each(|part| part.each_guard(visit));
    }
}

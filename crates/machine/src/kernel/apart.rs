//! Steps taken apart.
//!
//! What a machine does in a step depends on itself alone, and so does what a receiver does with a message and what a
//! monitor does with an observation. A search that remembers these parts puts the global step together from them.
//! Here the kernel runs each part by the code of the whole step, on a configuration of one machine: what the machine
//! observes is returned instead of being delivered to monitors, what it sends to others stays in its pending effect, and
//! at a data choice it pauses, so that each answer can be tried from there.

use allways_base::Idx;
use allways_run::InstanceId;

use super::{DataPoint, Kernel, Oracle, Outcome, Spent, Stepping};
use crate::configuration::{Local, Message, Pending, Status};
use crate::interpret::Input;
use crate::record::{Actor, Recorder};
use crate::value::Value;

/// What happens to a machine that is run apart.
#[derive(Default)]
pub(super) struct Apart {
    pub observed: Vec<Message>,
    paused: Option<Paused>,
}

/// What one machine did by itself. How it stands then is in the kernel: [`Kernel::configuration`] and
/// [`Kernel::outcome`].
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Alone {
    /// What it sent to observers or announced, in order.
    pub observed: Vec<Message>,
    /// The machine that it made, which has not begun: begin it with [`Kernel::begin_alone`].
    pub created: Option<InstanceId>,
    /// It stands at a data choice: go on with [`Kernel::resume_alone`].
    pub paused: Option<Paused>,
}

/// A data choice in the middle of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Paused {
    pub point: DataPoint,
    /// It may still observe and fail in this step.
    pub own: bool,
    pub spent: Spent,
}

impl Kernel<'_> {
    /// Makes the step of a machine that stands as `local`, but for the delivery to another machine, if the step begins
    /// with one, for the beginning of a machine that it makes, and without monitors, also at the start.
    pub fn step_alone<R: Recorder>(&mut self, machine: InstanceId, local: &Local, recorder: &mut R) -> Alone {
        let status = local.status;
        self.alone(machine, local, recorder, |stepping| match status {
            Status::Pending(Pending::Deliver { target, .. }) if target != machine => {
                stepping.run(machine, Input::Continue, true);
            }
            Status::Pending(Pending::Create { interface, payload, dst }) => {
                if stepping.create(machine, interface, payload, dst).is_some() {
                    stepping.run(machine, Input::Continue, true);
                }
            }
            Status::Pending(Pending::Start) => stepping.run(machine, Input::Start(Value::NULL), true),
            _ => stepping.step(machine),
        })
    }

    /// Starts the monitors, which is how the first step begins.
    pub fn start_monitors_alone<R: Recorder>(&mut self, recorder: &mut R) {
        Stepping { kernel: self, oracle: &mut no_choice, recorder }.start_monitors();
    }

    /// Begins a machine that was just made.
    pub fn begin_alone<R: Recorder>(
        &mut self,
        machine: InstanceId,
        local: &Local,
        payload: Value,
        recorder: &mut R,
    ) -> Alone {
        self.alone(machine, local, recorder, |stepping| {
            stepping.run(machine, Input::Start(payload), false);
        })
    }

    /// Stops a machine that stands as `local` for good.
    pub fn crash_alone<R: Recorder>(&mut self, machine: InstanceId, local: &Local, recorder: &mut R) {
        self.alone(machine, local, recorder, |stepping| stepping.crash(machine));
    }

    /// Delivers so many copies of a message to a machine that stands as `local`, which handles it if it can.
    pub fn deliver_alone<R: Recorder>(
        &mut self,
        target: InstanceId,
        local: &Local,
        message: Message,
        n_copies: u32,
        recorder: &mut R,
    ) -> Alone {
        self.alone(target, local, recorder, |stepping| {
            stepping.note_send(target, target, message);
            if let Some(input) = stepping.arrive_often(target, target, message, n_copies) {
                stepping.handle(target, message, input);
            }
        })
    }

    /// Goes on from a data choice with an answer.
    pub fn resume_alone<R: Recorder>(
        &mut self,
        local: &Local,
        paused: &Paused,
        answer: u32,
        recorder: &mut R,
    ) -> Alone {
        let machine = paused.point.machine;
        self.alone(machine, local, recorder, |stepping| {
            stepping.run_on(machine, Input::Chosen(answer), paused.own, paused.spent);
        })
    }

    /// Tells a monitor that stands as `local` of one observation.
    pub fn observe_alone<R: Recorder>(
        &mut self,
        monitor: u32,
        local: &Local,
        message: Message,
        recorder: &mut R,
    ) {
        self.clear_configuration();
        self.conf.monitors[monitor as usize].clone_from(local);
        Stepping { kernel: self, oracle: &mut no_choice, recorder }
            .run_monitor(monitor, Input::Handle(message));
        self.settle();
    }

    pub(super) fn alone<R: Recorder>(
        &mut self,
        machine: InstanceId,
        local: &Local,
        recorder: &mut R,
        act: impl FnOnce(&mut Stepping<'_, '_, fn(DataPoint) -> u32, R>),
    ) -> Alone {
        self.clear_configuration();
        self.add_machine(machine, local.interface);
        self.conf.locals[machine.index()].clone_from(local);
        self.apart = Some(Apart::default());
        let mut oracle: fn(DataPoint) -> u32 = no_choice;
        act(&mut Stepping { kernel: self, oracle: &mut oracle, recorder });
        self.settle();
        let apart = self.apart.take().unwrap_or_default();
        let created = self.conf.roster.iter().find(|&instance| instance != machine);
        Alone { observed: apart.observed, created, paused: apart.paused }
    }

    fn clear_configuration(&mut self) {
        self.conf.clear();
        self.outcome = Outcome::Running;
        self.schedule.choices.clear();
        self.n_steps = 0;
    }
}

/// Is never asked: choices pause.
fn no_choice(_: DataPoint) -> u32 {
    0
}

impl<O: Oracle, R: Recorder> Stepping<'_, '_, O, R> {
    /// Stops at a data choice. The effect that the step began with is made, so nothing is pending.
    pub(super) fn pause(&mut self, point: DataPoint, own: bool, spent: Spent) {
        self.kernel.settle_local(Actor::Machine(point.machine));
        self.kernel.conf.locals[point.machine.index()].status = Status::Idle;
        if let Some(apart) = &mut self.kernel.apart {
            apart.paused = Some(Paused { point, own, spent });
        }
    }
}

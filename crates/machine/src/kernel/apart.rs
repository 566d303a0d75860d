//! Steps taken apart.
//!
//! What a machine does in a step depends on itself alone, and so does what a receiver does with a message and what a
//! monitor does with an observation. A search that remembers these parts puts the global step together from them.
//! Here the kernel runs each part by the code of the whole step, on a configuration of one machine: what the machine
//! observes is handed out instead of being told to monitors, and what it sends to others stays in its pending effect.

use allways_base::Idx;
use allways_run::InstanceId;

use super::{Kernel, Oracle, Outcome, Stepping};
use crate::configuration::{Local, Message, Pending, Status};
use crate::interpret::Input;
use crate::record::Recorder;

/// What one machine did by itself. How it stands then is in the kernel: [`Kernel::configuration`] and
/// [`Kernel::outcome`].
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Alone {
    /// What it sent to observers or announced, in order.
    pub observed: Vec<Message>,
    /// The machine that it made.
    pub created: Option<InstanceId>,
}

impl Kernel {
    /// Makes the step of a machine that stands as `local`, but for the delivery to another machine, if the step begins
    /// with one, and without monitors.
    pub fn step_alone<O: Oracle, R: Recorder>(
        &mut self,
        machine: InstanceId,
        local: &Local,
        oracle: &mut O,
        recorder: &mut R,
    ) -> Alone {
        self.stand_alone(machine, local);
        self.apart = Some(Vec::new());
        let mut stepping = Stepping { kernel: self, oracle, recorder };
        match local.status {
            Status::Pending(Pending::Deliver { target, .. }) if target != machine => {
                stepping.run(machine, Input::Continue, true);
            }
            _ => stepping.step(machine),
        }
        let observed = self.apart.take().unwrap_or_default();
        let created = self.conf.roster.iter().find(|&instance| instance != machine);
        Alone { observed, created }
    }

    /// Delivers a message to a machine that stands as `local`, which handles it if it can.
    pub fn deliver_alone<O: Oracle, R: Recorder>(
        &mut self,
        target: InstanceId,
        local: &Local,
        message: Message,
        oracle: &mut O,
        recorder: &mut R,
    ) {
        self.stand_alone(target, local);
        self.apart = Some(Vec::new());
        let mut stepping = Stepping { kernel: self, oracle, recorder };
        if let Some(input) = stepping.deliver(target, target, message) {
            stepping.handle(target, message, input);
        }
        self.apart = None;
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
        let mut nobody = |_| 0;
        Stepping { kernel: self, oracle: &mut nobody, recorder }.run_monitor(monitor, Input::Handle(message));
    }

    fn clear_configuration(&mut self) {
        self.conf.roster.clear();
        self.conf.enabled.clear();
        self.outcome = Outcome::Running;
        self.schedule.choices.clear();
        self.n_steps = 0;
    }

    fn stand_alone(&mut self, machine: InstanceId, local: &Local) {
        self.clear_configuration();
        self.add_machine(machine, local.interface);
        self.conf.locals[machine.index()].clone_from(local);
    }
}

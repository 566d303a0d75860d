//! Steps where an inbox is known in part.
//!
//! A proof that over-approximates a flooded inbox keeps the first messages in order, in the inbox, and of the rest only
//! which messages there may be: its *tail*, which the kernel does not know. What is sent to the tail is not delivered; what a
//! machine finds there comes from nowhere.

use allways_run::{Choice, InstanceId};

use super::{Alone, Kernel, NotEnabled, Oracle, Outcome, Stepping};
use crate::configuration::{Local, Message, Pending};
use crate::interpret::Input;
use crate::record::Recorder;

impl Kernel<'_> {
    /// Makes the step of a machine that stands before a send, but for the delivery.
    ///
    /// # Errors
    /// When it does not stand there.
    pub fn step_undelivered<O: Oracle, R: Recorder>(
        &mut self,
        machine: InstanceId,
        oracle: &mut O,
        recorder: &mut R,
    ) -> Result<(), NotEnabled> {
        let choice = Choice::Machine(machine);
        let Some(Pending::Deliver { .. }) = self.pending(machine) else { return Err(NotEnabled(choice)) };
        if !self.is_running() {
            return Err(NotEnabled(choice));
        }
        self.open(choice, recorder);
        Stepping { kernel: self, oracle, recorder }.run(machine, Input::Continue, true);
        self.after_step();
        if self.is_running() && self.conf.enabled.is_empty() {
            self.end();
        }
        Ok(())
    }

    /// A machine that rests finds one more message, and handles it if it can.
    pub fn find<O: Oracle, R: Recorder>(
        &mut self,
        machine: InstanceId,
        message: Message,
        oracle: &mut O,
        recorder: &mut R,
    ) {
        // That no machine can move was decided from the known part of inboxes.
        self.outcome = Outcome::Running;
        let mut stepping = Stepping { kernel: self, oracle, recorder };
        if let Some(input) = stepping.arrive(machine, machine, message) {
            stepping.handle(machine, message, input);
        }
        self.after_step();
        if self.is_running() && self.conf.enabled.is_empty() {
            self.end();
        }
    }

    /// [`Kernel::step_alone`] of a machine that stands before a send to itself, but for the delivery.
    pub fn step_undelivered_alone<R: Recorder>(
        &mut self,
        machine: InstanceId,
        local: &Local,
        recorder: &mut R,
    ) -> Alone {
        self.alone(machine, local, recorder, |stepping| stepping.run(machine, Input::Continue, true))
    }
}

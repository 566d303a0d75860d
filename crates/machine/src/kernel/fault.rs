//! What the network does, and what goes wrong: messages in flight, lost, duplicated; machines that crash.

use std::cmp::Ordering;

use allways_base::Idx;
use allways_run::{Choice, InstanceId, NetworkModel};

use super::{DataPoint, Kernel, NotEnabled, Oracle, Stepping};
use crate::configuration::{Message, Status};
use crate::encode::compare_messages;
use crate::interpret::Input;
use crate::network::Copies;
use crate::record::{Note, Recorder};

impl Kernel<'_> {
    /// Makes one step: of a machine, of the network, or a crash. Data choices met in it are asked of the oracle.
    ///
    /// # Errors
    /// When that step cannot be made here.
    pub fn take<O: Oracle, R: Recorder>(
        &mut self,
        choice: Choice,
        oracle: &mut O,
        recorder: &mut R,
    ) -> Result<(), NotEnabled> {
        match choice {
            Choice::Machine(machine) => return self.step(machine, oracle, recorder),
            Choice::Deliver { target, source, place } => {
                let at = self.conf.network.position(source, target).ok_or(NotEnabled(choice))?;
                if !self.is_running() || place >= self.conf.network.n_picks(self.exe.network.model, at) {
                    return Err(NotEnabled(choice));
                }
                self.open(choice, recorder);
                Stepping { kernel: self, oracle, recorder }.bring(at, place);
            }
            Choice::Crash(machine) => {
                if !self.is_running() || !self.can_crash(machine) {
                    return Err(NotEnabled(choice));
                }
                self.open(choice, recorder);
                Stepping { kernel: self, oracle, recorder }.crash(machine);
            }
            Choice::Data(_) => return Err(NotEnabled(choice)),
        }
        self.close(recorder);
        Ok(())
    }

    /// Whether a machine may crash here: it is of a kind that does, and has not stopped. The first step, in which
    /// monitors start, always comes first.
    pub fn can_crash(&self, machine: InstanceId) -> bool {
        if self.n_steps == 0 || self.conf.roster.number(machine).is_none() {
            return false;
        }
        let local = &self.conf.locals[machine.index()];
        self.exe.network.can_crash(local.machine) && local.status != Status::Halted
    }

    /// Brings the enabled set up to date about the network, of which this channel has changed.
    fn refresh_channels(&mut self, changed: usize) {
        let conf = &mut self.conf;
        conf.places.add_channels(conf.network.channels.len());
        let model = self.exe.network.model;
        if model != NetworkModel::Causal {
            let is_enabled = !conf.network.channels[changed].messages.is_empty();
            return conf.enabled.set(conf.places.channels[changed] as usize, is_enabled);
        }
        // What waited for a message elsewhere need not wait any more.
        for at in 0..conf.network.channels.len() {
            let enabled = conf.network.n_picks(model, at) > 0;
            conf.enabled.set(conf.places.channels[at] as usize, enabled);
        }
    }
}

impl<O: Oracle, R: Recorder> Stepping<'_, '_, O, R> {
    /// A message is sent to another machine over a network that delays or loses. What the target does at once, if it can.
    pub(super) fn put_in_flight(
        &mut self,
        sender: InstanceId,
        target: InstanceId,
        message: Message,
    ) -> Option<Input> {
        self.note_send(sender, target, message);
        let n_copies = self.fate(sender, target, message);
        if !self.kernel.exe.network.is_delayed() {
            return self.arrive_often(sender, target, message, n_copies);
        }
        let Kernel { exe, store, conf, .. } = &mut *self.kernel;
        let order = |a: Message, b: Message| -> Ordering { compare_messages(exe, store, a, b) };
        conf.network.put_in_flight(
            exe.network.model,
            sender,
            target,
            message,
            Copies::needed(n_copies),
            order,
        );
        if let Some(at) = conf.network.position(sender, target) {
            self.kernel.refresh_channels(at);
        }
        None
    }

    /// How many copies of a message arrive, which is a data choice if it can be lost or doubled.
    fn fate(&mut self, sender: InstanceId, target: InstanceId, message: Message) -> u32 {
        let fates = self.kernel.exe.network.fates(message.event);
        if fates.len() == 1 {
            return fates[0];
        }
        let n_answers = fates.len() as u32;
        let point = DataPoint { is_fair: false, ..self.data_point(sender, n_answers) };
        let answer = self.oracle.answer(point).min(n_answers - 1);
        self.kernel.schedule.choices.push(Choice::Data(answer));
        self.note(|| Note::Chosen(Choice::Data(answer)));
        let n_copies = fates[answer as usize];
        match n_copies {
            0 => self.note(|| Note::Lose { machine: sender, target, message }),
            1 => {}
            _ => self.note(|| Note::Duplicate { machine: sender, target, message }),
        }
        n_copies
    }

    /// So many copies of a message reach their target, one right after the other.
    pub(super) fn arrive_often(
        &mut self,
        sender: InstanceId,
        target: InstanceId,
        message: Message,
        n_copies: u32,
    ) -> Option<Input> {
        let mut handling = None;
        for _ in 0..n_copies {
            match handling {
                None => handling = self.arrive(sender, target, message),
                // It is about to handle the one before, and will look into its inbox then.
                Some(_) => {
                    let local = &mut self.kernel.conf.locals[target.index()];
                    local.touched.read_inbox();
                    local.inbox.push_back(message);
                }
            }
        }
        handling
    }

    /// The network brings a message to its target.
    fn bring(&mut self, at: usize, place: u32) {
        let Kernel { exe, conf, .. } = &mut *self.kernel;
        let (source, target) = (conf.network.channels[at].source, conf.network.channels[at].target);
        let Some(message) = conf.network.deliver(exe.network.model, at, place) else { return };
        self.kernel.refresh_channels(at);
        self.note(|| Note::Arrive { source, target, message });
        if let Some(input) = self.arrive(source, target, message) {
            self.handle(target, message, input);
        }
    }

    /// The machine stops where it stands.
    pub(super) fn crash(&mut self, machine: InstanceId) {
        let local = &mut self.kernel.conf.locals[machine.index()];
        let (state, n_discarded) = (local.control, local.inbox.len());
        local.halt();
        self.note(|| Note::Crash { machine, state, n_discarded });
        self.kernel.refresh(machine);
    }
}

//! One step in progress: a machine is run from effect to effect, and its effects are made.

use allways_base::{Idx, Span};
use allways_run::{Choice, InstanceId, StopReason, ViolationKind};

use super::effort::{Effort, Go};
use super::{DataPoint, Kernel, Oracle, Outcome, Spent, note};
use crate::configuration::{Fault, Message, Pending, Status};
use crate::interpret::{Context, Effect, Input, resume};
use crate::ir::{EventId, FunId, InterfaceId, Op, Operand, OperandView};
use crate::record::{Actor, Note, Recorder};
use crate::rules::{self, Arrival};
use crate::value::Value;

/// One step in progress.
pub(super) struct Stepping<'a, 'c, O, R> {
    pub(super) kernel: &'a mut Kernel<'c>,
    pub(super) oracle: &'a mut O,
    pub(super) recorder: &'a mut R,
}

impl<O: Oracle, R: Recorder> Stepping<'_, '_, O, R> {
    pub(super) fn step(&mut self, machine: InstanceId) {
        let local = &mut self.kernel.conf.locals[machine.index()];
        match local.status {
            Status::Pending(Pending::Start) => {
                self.start_monitors();
                if self.kernel.is_running() {
                    let (creator, payload) = (None, Value::NULL);
                    self.note(|| Note::Create { creator, created: machine, payload, span: None });
                    self.run(machine, Input::Start(Value::NULL), true);
                }
            }
            Status::Pending(Pending::Observe) => self.run(machine, Input::Continue, true),
            Status::Pending(Pending::Deliver { target, message }) => {
                let is_direct = self.kernel.exe.network.is_direct() || target == machine;
                let handling = match is_direct {
                    true => self.deliver(machine, target, message),
                    false => self.put_in_flight(machine, target, message),
                };
                self.kernel.held.push(message.payload);
                self.run(machine, Input::Continue, true);
                let message =
                    self.kernel.held.pop().map_or(message, |payload| Message { payload, ..message });
                if let (Some(input), true) = (handling, self.kernel.is_running()) {
                    let input = match input {
                        Input::Received(_) => Input::Received(message),
                        _ => Input::Handle(message),
                    };
                    self.handle(target, message, input);
                }
            }
            Status::Pending(Pending::Create { interface, payload, dst }) => {
                let Some(created) = self.create(machine, interface, payload, dst) else { return };
                self.kernel.held.push(payload);
                self.run(machine, Input::Continue, true);
                let payload = self.kernel.held.pop().unwrap_or(payload);
                if self.kernel.is_running() {
                    self.run(created, Input::Start(payload), false);
                }
            }
            Status::Pending(Pending::Fault(fault)) => self.kernel.violate(Actor::Machine(machine), fault),
            Status::Pending(Pending::Foreign { fun }) => self.foreign(fun),
            Status::Idle => {
                // Ignored messages went when they arrived; what waits is deferred. So nothing can be taken.
                let message = Message { event: EventId::NULL, payload: Value::NULL };
                let state = local.control;
                self.note(|| Note::Dequeue { machine, state, message });
                // Its effects need steps of their own: messages may arrive, and others observe, between the
                // decision that the inbox is empty and the first effect of the handler.
                self.run(machine, Input::Handle(message), false);
            }
            Status::Blocked { .. } | Status::Halted => {}
        }
    }

    #[inline]
    pub(super) fn note(&mut self, make: impl FnOnce() -> Note) {
        note(self.kernel, self.recorder, make);
    }

    /// Runs the code of a machine or monitor up to its next effect, or until the fuel is used up.
    #[inline]
    pub(super) fn resume(&mut self, actor: Actor, input: Input, fuel: &mut u32) -> Effect {
        let Kernel { exe, limits, store, conf, .. } = &mut *self.kernel;
        let local = match actor {
            Actor::Machine(machine) => &mut conf.locals[machine.index()],
            Actor::Monitor(monitor) => &mut conf.monitors[monitor as usize],
        };
        let (roster, recorder) = (&conf.roster, &mut *self.recorder);
        resume(Context { exe, store, roster, limits, recorder, actor, fuel }, local, input)
    }

    /// Runs a machine until it stands before its next effect, has nothing to do, or has stopped. `own` says
    /// that this is a step of the machine, in which it may observe and fail; it ends with the handler.
    pub(super) fn run(&mut self, machine: InstanceId, input: Input, own: bool) {
        self.run_on(machine, input, own, Spent::default());
    }

    /// The same, of a handler that has cost so much.
    pub(super) fn run_on(&mut self, machine: InstanceId, mut input: Input, mut own: bool, spent: Spent) {
        let actor = Actor::Machine(machine);
        let mut effort = Effort::new(spent);
        let status = loop {
            match self.resume(actor, input, &mut effort.fuel) {
                Effect::Yield => {
                    input = Input::Continue;
                    let fault = match self.yielded(&mut effort, actor) {
                        Go::On => continue,
                        Go::Endless(op, why) => self.kernel.endless(op, why),
                        Go::Stop(reason) => return self.stop(reason),
                    };
                    if own {
                        return self.kernel.violate(actor, fault);
                    }
                    break Status::Pending(Pending::Fault(fault));
                }
                Effect::Observe(_) if !own => break Status::Pending(Pending::Observe),
                Effect::Observe(message) => {
                    self.observe(machine, message);
                    if !self.kernel.is_running() {
                        return;
                    }
                    if let Go::Stop(reason) = effort.observed(self.kernel, actor) {
                        return self.stop(reason);
                    }
                    input = Input::Observed;
                }
                Effect::Deliver { target, message } => {
                    break Status::Pending(Pending::Deliver { target, message });
                }
                Effect::Create { interface, payload, dst } => {
                    break Status::Pending(Pending::Create { interface, payload, dst });
                }
                Effect::Choose { n_answers, is_number } => {
                    let fault = match self.chooses(machine, &mut effort) {
                        Go::On => None,
                        Go::Endless(op, why) => Some(self.kernel.endless(op, why)),
                        Go::Stop(reason) => return self.stop(reason),
                    };
                    match fault {
                        Some(fault) if own => return self.kernel.violate(actor, fault),
                        Some(fault) => break Status::Pending(Pending::Fault(fault)),
                        None => {}
                    }
                    let point = DataPoint { is_number, ..self.data_point(machine, n_answers) };
                    if self.kernel.apart.is_some() {
                        return self.pause(point, own, effort.spent());
                    }
                    if self.kernel.schedule.len() as u64 >= self.kernel.max_choices {
                        return self.stop(StopReason::ChoiceBound(self.kernel.max_choices));
                    }
                    input = Input::Chosen(self.ask(point));
                }
                Effect::Receive { table } => {
                    // Taking a message is a scheduling point.
                    own = false;
                    let (exe, local) = self.kernel.machine_parts(machine);
                    let Some(message) = rules::take_awaited(exe, local, table) else {
                        let state = local.control;
                        self.note(|| Note::Wait { machine, state, table });
                        break Status::Blocked { table };
                    };
                    let state = local.control;
                    effort.renew();
                    self.note(|| Note::Receive { machine, state, message });
                    input = Input::Received(message);
                }
                Effect::Done => {
                    own = false;
                    let (exe, local) = self.kernel.machine_parts(machine);
                    let Some(message) = rules::take(exe, local) else { break Status::Idle };
                    let state = local.control;
                    effort.renew();
                    self.note(|| Note::Dequeue { machine, state, message });
                    input = Input::Handle(message);
                }
                Effect::Halt => {
                    let (_, local) = self.kernel.machine_parts(machine);
                    let n_discarded = local.inbox.len();
                    local.halt();
                    self.note(|| Note::Halt { machine, n_discarded });
                    break Status::Halted;
                }
                Effect::Fault(fault) if own => return self.kernel.violate(actor, fault),
                Effect::Fault(fault) => break Status::Pending(Pending::Fault(fault)),
                Effect::Exceeds(limit) => {
                    let reason = self.kernel.long_handler(actor, limit);
                    return self.stop(reason);
                }
                Effect::Foreign { fun } if own => return self.foreign(fun),
                Effect::Foreign { fun } => break Status::Pending(Pending::Foreign { fun }),
            }
        };
        self.kernel.settle_local(actor);
        self.kernel.conf.locals[machine.index()].status = status;
        self.kernel.refresh(machine);
    }

    pub(super) fn data_point(&self, machine: InstanceId, n_answers: u32) -> DataPoint {
        let kernel = &*self.kernel;
        let pc = kernel.conf.locals[machine.index()].frames.last().map_or(0, |frame| frame.pc);
        let is_fair = matches!(kernel.exe.code[pc as usize], Op::Flip { fair: true, .. });
        DataPoint { machine, n_answers, is_fair, is_number: false, pc }
    }

    pub(super) fn ask(&mut self, point: DataPoint) -> u32 {
        let DataPoint { machine, n_answers, pc, .. } = point;
        let kernel = &mut *self.kernel;
        let answer = self.oracle.answer(point);
        let answer = answer.min(n_answers - 1);
        kernel.schedule.choices.push(Choice::Data(answer));
        if R::ON {
            let span = kernel.exe.spans[pc as usize];
            let source = match kernel.exe.code[pc as usize] {
                Op::Choose { src, .. } => kernel.conf.locals[machine.index()].read(&kernel.exe, src),
                _ => Value::NULL,
            };
            self.note(|| Note::Chosen(Choice::Data(answer)));
            self.note(|| Note::Answer { machine, answer, n_answers, source, span });
        }
        answer
    }

    /// A message is sent and reaches its target.
    pub(super) fn deliver(
        &mut self,
        sender: InstanceId,
        target: InstanceId,
        message: Message,
    ) -> Option<Input> {
        self.note_send(sender, target, message);
        self.arrive(sender, target, message)
    }

    #[inline]
    pub(super) fn note_send(&mut self, sender: InstanceId, target: InstanceId, message: Message) {
        if R::ON {
            let state = self.kernel.conf.locals[sender.index()].control;
            let span = self.span_before(sender);
            self.note(|| Note::Send { machine: sender, state, target, message, span });
        }
    }

    /// The source of the effect that a machine makes: its frame has gone past it.
    pub(super) fn span_before(&self, machine: InstanceId) -> Option<Span> {
        let frame = self.kernel.conf.locals[machine.index()].frames.last()?;
        self.kernel.exe.spans.get((frame.pc as usize).wrapping_sub(1)).copied()
    }

    /// A message reaches its target. If the target can handle it at once, the input that makes it do so is returned.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        sender: InstanceId,
        target: InstanceId,
        message: Message,
    ) -> Option<Input> {
        let Kernel { exe, conf, .. } = &mut *self.kernel;
        let local = &mut conf.locals[target.index()];
        match rules::arrival(exe, local, message.event) {
            Arrival::Dropped => {
                self.note(|| Note::Drop { machine: sender, target, message });
                None
            }
            Arrival::Ignored => None,
            Arrival::Waits => {
                rules::keep(local, message);
                None
            }
            Arrival::Handled => Some(Input::Handle(message)),
            Arrival::Received => Some(Input::Received(message)),
        }
    }

    /// The target of a delivery handles the message, up to its first effect.
    pub(super) fn handle(&mut self, target: InstanceId, message: Message, input: Input) {
        let state = self.kernel.conf.locals[target.index()].control;
        self.note(|| match input {
            Input::Received(_) => Note::Receive { machine: target, state, message },
            _ => Note::Dequeue { machine: target, state, message },
        });
        self.run(target, input, false);
    }

    /// Makes a machine that has not begun, and gives its creator the reference.
    pub(super) fn create(
        &mut self,
        creator: InstanceId,
        interface: InterfaceId,
        payload: Value,
        dst: Operand,
    ) -> Option<InstanceId> {
        let kernel = &mut *self.kernel;
        if kernel.conf.roster.len() >= kernel.limits.machines as usize {
            kernel.outcome = Outcome::Unknown(StopReason::Unsupported {
                what: format!("a run with more than {} machines", kernel.limits.machines),
            });
            return None;
        }
        let local = &mut kernel.conf.locals[creator.index()];
        let place = local.n_children;
        local.n_children += 1;
        let created = kernel.known.child(&kernel.exe.instances, creator, place);
        kernel.add_machine(created, interface);
        kernel.conf.network.create(kernel.exe.network.model, creator, created);
        if R::ON {
            let span = self.span_before(creator);
            self.note(|| Note::Create { creator: Some(creator), created, payload, span });
        }
        let receives = self.kernel.exe.interfaces[interface].receives;
        let local = &mut self.kernel.conf.locals[creator.index()];
        let base = local.frames.last().map_or(0, |frame| frame.base as usize);
        let reference = Value::reference(created, receives);
        match dst.view() {
            OperandView::Register(n) => local.registers[base + n as usize] = reference,
            OperandView::Field(n) => {
                local.touched.write_field(n);
                local.registers[n as usize] = reference;
            }
            OperandView::Const(_) => {}
        }
        Some(created)
    }

    pub(super) fn start_monitors(&mut self) {
        for monitor in 0..self.kernel.conf.monitors.len() {
            let machine = self.kernel.exe.monitors[monitor].machine;
            let def = &self.kernel.exe.machines[machine];
            if def.start.is_none() {
                let span = Some(def.span);
                let text = format!("spec {} has no start state", self.kernel.exe.machine_name(machine));
                let text = self.kernel.store.string(&text);
                let fault = Fault { kind: ViolationKind::NoStartState, text, span };
                return self.kernel.violate(Actor::Monitor(monitor as u32), fault);
            }
            self.run_monitor(monitor as u32, Input::Start(Value::NULL));
            if !self.kernel.is_running() {
                return;
            }
        }
    }

    /// Passes what a machine sends or announces through the monitors that watch it.
    pub(super) fn observe(&mut self, machine: InstanceId, mut message: Message) {
        let local = &self.kernel.conf.locals[machine.index()];
        let pc = local.frames.last().map_or(0, |frame| frame.pc) as usize;
        let span = self.kernel.exe.spans[pc];
        let mut target = None;
        if R::ON {
            match self.kernel.exe.code[pc] {
                Op::Send { target: to, .. } => {
                    target = local.read(&self.kernel.exe, to).as_ref().map(|(target, _)| target);
                }
                _ => {
                    let state = local.control;
                    self.note(|| Note::Announce { machine, state, message, span });
                }
            }
        }
        if let Some(apart) = &mut self.kernel.apart {
            return apart.observed.push(message);
        }
        let interface = self.kernel.conf.locals[machine.index()].interface;
        // By position: a counted reference to the executable would be written by all threads at every observation.
        for at in 0..self.kernel.exe.observers(interface, message.event).len() {
            let monitor = self.kernel.exe.observers(interface, message.event)[at];
            let state = self.kernel.conf.monitors[monitor as usize].control;
            self.note(|| Note::Observe { monitor, state, machine, message, target, span });
            self.kernel.held.push(message.payload);
            self.run_monitor(monitor, Input::Handle(message));
            message.payload = self.kernel.held.pop().unwrap_or(message.payload);
            if !self.kernel.is_running() {
                return;
            }
        }
    }

    pub(super) fn run_monitor(&mut self, monitor: u32, mut input: Input) {
        let actor = Actor::Monitor(monitor);
        let mut effort = Effort::new(Spent::default());
        loop {
            match self.resume(actor, input, &mut effort.fuel) {
                Effect::Yield => match self.yielded(&mut effort, actor) {
                    Go::On => input = Input::Continue,
                    Go::Endless(op, why) => {
                        let fault = self.kernel.endless(op, why);
                        return self.kernel.violate(actor, fault);
                    }
                    Go::Stop(reason) => return self.stop(reason),
                },
                Effect::Done => return self.kernel.settle_local(actor),
                Effect::Fault(fault) => return self.kernel.violate(actor, fault),
                Effect::Exceeds(limit) => {
                    let reason = self.kernel.long_handler(actor, limit);
                    return self.stop(reason);
                }
                Effect::Foreign { fun } => return self.foreign(fun),
                // The front end lets no monitor do these.
                Effect::Observe(_)
                | Effect::Deliver { .. }
                | Effect::Create { .. }
                | Effect::Choose { .. }
                | Effect::Receive { .. }
                | Effect::Halt => {
                    let name = self.kernel.exe.monitor_name(monitor as usize);
                    let what = format!("an effect of monitor {name}");
                    return self.stop(StopReason::Unsupported { what });
                }
            }
        }
    }

    #[cold]
    pub(super) fn foreign(&mut self, fun: FunId) {
        let name = self.kernel.exe.function_name(fun).to_owned();
        self.kernel.outcome = Outcome::Unknown(StopReason::ForeignFunction { name });
    }
}

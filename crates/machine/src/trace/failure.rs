//! What explains a violation: read from the configuration in which the run stopped.

use allways_base::Idx;
use allways_run::{
    ActorId, FailurePart, Name, PartLabel, PartOrigin, PathStep, Violation, ViolationKind, Waiting,
};

use super::Tracer;
use crate::Executable;
use crate::configuration::{After, Local, Status};
use crate::ir::{Action, ControlId, EventId, Inspect, MachineId, Op, Operand, OperandView, ReceiveId, Step};
use crate::kernel::Kernel;
use crate::record::Scene;
use crate::topology::{Target, Topology};
use crate::value::{Kind, Notation, Value, View};

impl Tracer {
    /// The events that a `receive` waits for.
    pub(super) fn awaited(&mut self, scene: &Scene<'_>, table: ReceiveId) -> Vec<Name> {
        let cases = scene.exe.receives[table].cases.iter_ids();
        let events = cases.filter(|(_, case)| case.is_some());
        events.map(|(event, _)| self.event_name(scene, event)).collect()
    }

    pub(super) fn explain(&mut self, kernel: &Kernel, violation: &Violation) {
        let (scene, conf) = (kernel.scene(), kernel.configuration());
        if violation.kind == ViolationKind::Deadlock {
            return self.explain_deadlock(kernel);
        }
        let (actor, local) = match (violation.machine, violation.monitor) {
            (_, Some(monitor)) => (ActorId::new(monitor), &conf.monitors[monitor]),
            (Some(machine), None) => {
                let Some(&actor) = self.actors.get(&machine) else { return };
                (actor, conf.local(machine))
            }
            (None, None) => return,
        };
        self.trace.failure.actor = Some(actor);
        if violation.kind == ViolationKind::HotAtEnd {
            return;
        }
        self.trace.failure.message = self.known[actor.index()].message;
        let event = match (violation.kind, local.after) {
            (ViolationKind::UnhandledEvent, After::Unhandled { event }) => Some(event),
            (ViolationKind::MonitorUnhandled, _) => {
                let name = self.trace.failure.message.map(|id| self.trace.messages[id.index()].event.clone());
                let is_it = |event: &EventId| Some(scene.exe.event_name(*event)) == name.as_deref();
                scene.exe.events.ids().find(is_it)
            }
            _ => None,
        };
        if let Some(event) = event {
            return self.explain_unhandled(&scene, local, event);
        }
        self.explain_expression(&scene, local, violation.kind);
    }

    /// The events that each control state of a monitor reacts to.
    pub(super) fn reactions(&mut self, scene: &Scene<'_>, machine: MachineId) -> Vec<(Name, Vec<Name>)> {
        let mut reactions = Vec::new();
        for (at, state) in scene.exe.states.iter_ids().filter(|(_, state)| state.machine == machine) {
            let reacts = |action: &Action| matches!(action, Action::Do(_) | Action::Goto(..));
            let events = state.actions.iter_ids().filter(|(_, action)| reacts(action));
            let events = events.map(|(event, _)| self.event_name(scene, event)).collect();
            reactions.push((self.state_name(scene, at), events));
        }
        reactions
    }

    fn explain_unhandled(&mut self, scene: &Scene<'_>, local: &Local, event: EventId) {
        let states = scene.exe.states.iter_ids();
        let states = states.filter(|(_, state)| state.machine == local.machine);
        let handles = |action: Action| matches!(action, Action::Do(_) | Action::Goto(..));
        let states: Vec<ControlId> =
            states.filter(|(_, state)| handles(state.actions[event])).map(|(at, _)| at).collect();
        self.trace.failure.handled_in = states.iter().map(|&state| self.state_name(scene, state)).collect();
    }

    fn explain_deadlock(&mut self, kernel: &Kernel) {
        let (scene, conf) = (kernel.scene(), kernel.configuration());
        let topology = Topology::new(scene.exe);
        for (instance, local) in conf.instances() {
            let Status::Blocked { table } = local.status else { continue };
            let Some(&actor) = self.actors.get(&instance) else { continue };
            let cases = &scene.exe.receives[table].cases;
            let is_awaited = |event: &EventId| cases[*event].is_some();
            let (mut senders, mut elsewhere): (Vec<Name>, Vec<Name>) = (Vec::new(), Vec::new());
            for (from, target, events) in topology.edges() {
                let Target::Site(to) = target else { continue };
                if !events.iter().any(is_awaited) {
                    continue;
                }
                let is_it = topology.sites()[to].machine == local.machine;
                // Actors are called by what they are created as.
                let interface = topology.sites()[from].interface;
                let name = self.data.symbol(&scene, scene.exe.interfaces[interface].name);
                let names = if is_it { &mut senders } else { &mut elsewhere };
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            elsewhere.retain(|name| !senders.contains(name));
            let waiting = Waiting {
                actor,
                state: self.state_name(&scene, local.control),
                events: self.awaited(&scene, table),
                span: local.frames.last().map(|frame| scene.exe.spans[frame.pc as usize]),
                senders,
                elsewhere,
            };
            self.trace.failure.waiting.push(waiting);
        }
        self.trace.failure.actor = self.trace.failure.waiting.first().map(|waiting| waiting.actor);
    }

    fn explain_expression(&mut self, scene: &Scene<'_>, local: &Local, kind: ViolationKind) {
        let Some(frame) = local.frames.last() else { return };
        let exe = scene.exe;
        if let Some(inspection) = exe.inspections.iter().find(|inspection| inspection.pc == frame.pc) {
            self.trace.failure.condition = (!inspection.parts.is_empty()).then_some(inspection.condition);
            for part in &inspection.parts {
                let Some(value) = evaluate(scene, local, &part.inspect) else { continue };
                let origin = self.origin(scene, local, &part.inspect);
                let value = self.data.datum(scene, &part.notation, value);
                let label = PartLabel::Source(part.span);
                self.trace.failure.parts.push(FailurePart { label, value, origin });
            }
            return;
        }
        self.trace.failure.condition = exe.spans.get(frame.pc as usize).copied();
        let key = match kind {
            ViolationKind::Index => "index",
            _ => "key",
        };
        match exe.code[frame.pc as usize] {
            Op::Index { src, index, .. } => {
                self.operand_part(scene, local, key, index);
                self.operand_part(scene, local, "collection", src);
            }
            Op::Store { root, path, .. } | Op::Insert { root, path, .. } | Op::Remove { root, path } => {
                let steps = &exe.paths[path as usize];
                if let Some(Step::Index(index)) = steps.iter().rfind(|step| matches!(step, Step::Index(_))) {
                    self.operand_part(scene, local, key, *index);
                }
                self.operand_part(scene, local, "variable", root);
            }
            Op::Binary { a, b, .. } => {
                self.operand_part(scene, local, "left", a);
                self.operand_part(scene, local, "right", b);
            }
            Op::Cast { src, .. } | Op::Field { src, .. } | Op::Part { src, .. } | Op::Choose { src, .. } => {
                self.operand_part(scene, local, "value", src);
            }
            _ => {}
        }
    }

    /// A value that the failing op reads. It is called as in the source if it is a variable.
    fn operand_part(&mut self, scene: &Scene<'_>, local: &Local, role: &str, operand: Operand) {
        let exe = scene.exe;
        let value = local.read(exe, operand);
        let fun = local.frames.last().map(|frame| &exe.funs[frame.fun]);
        let (label, notation): (Name, &Notation) = match operand.view() {
            OperandView::Field(n) => {
                let def = &exe.machines[local.machine];
                (self.data.symbol(scene, def.fields[n as usize].0), &def.notations[n as usize])
            }
            OperandView::Register(n) => {
                let name = fun.and_then(|fun| fun.locals.get(n as usize));
                (name.map_or_else(|| role.into(), |&name| self.data.symbol(scene, name)), &Notation::Plain)
            }
            OperandView::Const(_) => (role.into(), &Notation::Plain),
        };
        let label: Name =
            if &*label == role || matches!(role, "collection" | "variable" | "value" | "left" | "right") {
                label
            } else {
                format!("{role} {label}").into()
            };
        let origin = self.origin(scene, local, &Inspect::Operand(operand));
        let value = self.data.datum(scene, notation, value);
        self.trace.failure.parts.push(FailurePart { label: PartLabel::Text(label), value, origin });
    }

    fn origin(&mut self, scene: &Scene<'_>, local: &Local, inspect: &Inspect) -> PartOrigin {
        let mut path = Vec::new();
        let Some(operand) = self.follow(scene, local, inspect, &mut path) else {
            return PartOrigin::Computed;
        };
        match operand.view() {
            OperandView::Field(n) => {
                let name = scene.exe.machines[local.machine].fields[n as usize].0;
                PartOrigin::Variable { name: self.data.symbol(scene, name), path }
            }
            OperandView::Register(n) if self.is_payload(scene.exe, local, n) => PartOrigin::Payload,
            OperandView::Register(_) => PartOrigin::Local,
            OperandView::Const(_) => PartOrigin::Computed,
        }
    }

    /// Whether a register is the parameter of the handler, or of the case of a `receive`, that took the last message.
    fn is_payload(&self, exe: &Executable, local: &Local, register: u32) -> bool {
        let Some(frame) = local.frames.last() else { return false };
        let fun = &exe.funs[frame.fun];
        let received = self.trace.failure.actor.and_then(|actor| self.known[actor.index()].received);
        match received {
            Some(event) => exe.code[fun.entry as usize..fun.end as usize].iter().any(|op| {
                let Op::Receive { table } = op else { return false };
                let case = exe.receives[*table].cases[event];
                case.and_then(|case| case.param).is_some_and(|(param, _)| param == register)
            }),
            None => register == 0 && local.frames.len() == 1 && !fun.params.is_empty(),
        }
    }

    /// The variable that a path begins with.
    fn follow(
        &mut self,
        scene: &Scene<'_>,
        local: &Local,
        inspect: &Inspect,
        path: &mut Vec<PathStep>,
    ) -> Option<Operand> {
        let (of, step) = match inspect {
            Inspect::Operand(operand) => return Some(*operand),
            Inspect::Part(of, at) => (of, PathStep::Part(*at)),
            Inspect::Field(of, access) => {
                let name = scene.exe.accesses[*access].0;
                (of, PathStep::Field(self.data.symbol(scene, name)))
            }
            Inspect::Index(of, key) => {
                let key = evaluate(scene, local, key)?;
                (of, PathStep::Key(self.data.datum(scene, &Notation::Plain, key)))
            }
            Inspect::Sizeof(of) => return self.follow(scene, local, of, path),
        };
        let root = self.follow(scene, local, of, path);
        path.push(step);
        root
    }
}

/// The value of a part, if it has one.
fn evaluate(scene: &Scene<'_>, local: &Local, inspect: &Inspect) -> Option<Value> {
    let store = scene.store;
    match inspect {
        Inspect::Operand(operand) => Some(local.read(scene.exe, *operand)),
        Inspect::Part(of, at) => match evaluate(scene, local, of)?.view() {
            View::Node(Kind::Tuple, id) => store.parts(id).get(*at as usize).copied(),
            View::Node(Kind::Named, id) => store.named_parts(id).1.get(*at as usize).copied(),
            _ => None,
        },
        Inspect::Field(of, access) => {
            let View::Node(Kind::Named, id) = evaluate(scene, local, of)?.view() else { return None };
            let (shape, parts) = store.named_parts(id);
            let name = scene.exe.accesses[*access].0;
            let at = scene.exe.shapes[shape].iter().position(|&found| found == name)?;
            parts.get(at).copied()
        }
        Inspect::Index(of, key) => store.peek(evaluate(scene, local, of)?, evaluate(scene, local, key)?).ok(),
        Inspect::Sizeof(of) => store.size_of(evaluate(scene, local, of)?).map(Value::size),
    }
}

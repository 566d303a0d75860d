//! What filters see of a frontier: what movers are about to bring, and which machines look alike.

use allways_base::Idx;
use allways_machine::ir::MachineId;
use allways_machine::value::Kind;
use allways_machine::{Executable, Value};
use allways_run::InstanceId;

use super::Head;
use crate::frontier::{Frontier, Mover};
use crate::guard::Guard;
use crate::local::{LiftedLocal, Point, Stand};
use crate::run::Lifted;
use crate::summary::{Part, Shared};

impl Frontier {
    /// What a mover is about to bring, and to whom, run by run.
    pub(crate) fn heads(&self, lifted: &mut Lifted<'_>, mover: Mover) -> Vec<(Head, Guard)> {
        let mut heads: Vec<(Head, Guard)> = Vec::new();
        let mut add =
            |lifted: &mut Lifted<'_>, head, guard| match heads.iter_mut().find(|(known, _)| *known == head) {
                Some(known) => known.1 = lifted.values.guards.or(known.1, guard),
                None => heads.push((head, guard)),
            };
        match mover {
            Mover::Machine(machine) => {
                let Some(local) = self.machines.get(machine.index()) else { return heads };
                for &(number, guard) in &local.points {
                    let point = lifted.points.get(number);
                    let head = match point.stand {
                        Stand::Deliver { target, event } => Head { target: Some(target), event: Some(event) },
                        Stand::Create { .. } => {
                            let created = lifted.exe.instances.child(machine, point.n_children);
                            Head { target: Some(created), event: None }
                        }
                        _ => Head { target: None, event: None },
                    };
                    add(lifted, head, guard);
                }
            }
            Mover::Channel(source, target) => {
                let message = self
                    .channels
                    .get(&(source, target))
                    .and_then(|channel| channel.part(Kind::Seq, Value::size(0)))
                    .and_then(|message| message.part(Kind::Tuple, Value::size(0)).cloned());
                for &(event, guard) in message.iter().flat_map(|events| events.spine()) {
                    add(lifted, Head { target: Some(target), event: event.as_event() }, guard);
                }
            }
        }
        heads
    }

    /// Of which declarations a machine is, run by run.
    pub(crate) fn kinds(&self, lifted: &mut Lifted<'_>, machine: InstanceId) -> Vec<(MachineId, Guard)> {
        let mut kinds: Vec<(MachineId, Guard)> = Vec::new();
        for &(number, guard) in self.machines.get(machine.index()).map_or(&[][..], |local| &local.points) {
            let kind = lifted.points.get(number).machine;
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some(known) => known.1 = lifted.values.guards.or(known.1, guard),
                None => kinds.push((kind, guard)),
            }
        }
        kinds
    }

    /// Where two machines are of the same declaration, one of these.
    pub(crate) fn of_kinds(
        &self,
        lifted: &mut Lifted<'_>,
        a: InstanceId,
        b: InstanceId,
        kinds: &[MachineId],
        within: Guard,
    ) -> Guard {
        let (of_a, of_b) = (self.kinds(lifted, a), self.kinds(lifted, b));
        let mut found = Guard::FALSE;
        for (kind, guard) in of_a.into_iter().filter(|(kind, _)| kinds.contains(kind)) {
            for &(_, other) in of_b.iter().filter(|&&(other, _)| other == kind) {
                let both = lifted.values.guards.and(guard, other);
                found = lifted.values.guards.or(found, both);
            }
        }
        lifted.values.guards.and(found, within)
    }

    /// Where the oldest message of a sender that is on its way is for this target.
    pub(crate) fn first_sent(
        &self,
        lifted: &mut Lifted<'_>,
        source: InstanceId,
        target: InstanceId,
    ) -> Guard {
        let sent = self.sent.as_ref().and_then(|sent| sent.get(&source));
        let Some(first) = sent.and_then(|sent| sent.part(Kind::Seq, Value::size(0)).cloned()) else {
            return Guard::FALSE;
        };
        lifted.values.guards.any(
            first.spine().iter().filter(|(value, _)| *value == number_of(target)).map(|&(_, guard)| guard),
        )
    }

    /// Where the configuration stays the same when two machines, and what they have made, change places.
    pub(crate) fn exchangeable(
        &self,
        lifted: &mut Lifted<'_>,
        a: InstanceId,
        b: InstanceId,
        within: Guard,
    ) -> Guard {
        let mirror = Mirror::new(lifted, a, b);
        if mirror.a.1.starts_with(&mirror.b.1) || mirror.b.1.starts_with(&mirror.a.1) {
            return Guard::FALSE;
        }
        let mut alike = within;
        let nowhere = LiftedLocal::nowhere(&lifted.values);
        // The two first: most often they differ already.
        let order = [a, b].into_iter().map(Idx::index).chain(0..self.machines.len());
        for at in order {
            if alike.is_false() {
                return alike;
            }
            let instance = InstanceId::new(at);
            let other = mirror.of(lifted, instance);
            if other.index() < at {
                continue;
            }
            let (here, there) = (self.machines.get(at), self.machines.get(other.index()));
            let (here, there) = (here.unwrap_or(&nowhere), there.unwrap_or(&nowhere));
            alike = mirror.is_image(lifted, here, there, alike);
        }
        for monitor in &self.monitors {
            alike = mirror.is_image(lifted, monitor, monitor, alike);
        }
        let nothing = lifted.values.nothing();
        for (&(source, target), channel) in &self.channels {
            let ends = (mirror.of(lifted, source), mirror.of(lifted, target));
            let other = self.channels.get(&ends).unwrap_or(&nothing);
            let image = mirror.summary(lifted, other);
            let same = lifted.values.same(channel, &image);
            alike = lifted.values.guards.and(alike, same);
        }
        // The order of sends names machines by their numbers, and is not looked into.
        for (&source, sent) in self.sent.iter().flatten() {
            if mirror.of(lifted, source) != source {
                let empty = lifted.values.guards.any(
                    lifted
                        .values
                        .seq_sizes(sent)
                        .into_iter()
                        .filter(|(n, _)| *n == 0)
                        .map(|(_, guard)| guard),
                );
                let absent = sent.domain().not();
                let none = lifted.values.guards.or(empty, absent);
                alike = lifted.values.guards.and(alike, none);
            }
        }
        alike
    }
}

/// A machine in the order of sends.
pub(crate) fn number_of(instance: InstanceId) -> Value {
    Value::size(instance.index())
}

/// Two machines that change places, each with all that it has made.
struct Mirror {
    a: (InstanceId, Vec<u32>),
    b: (InstanceId, Vec<u32>),
}

impl Mirror {
    fn new(lifted: &Lifted<'_>, a: InstanceId, b: InstanceId) -> Self {
        let path = |instance| (instance, lifted.exe.instances.path(instance));
        Mirror { a: path(a), b: path(b) }
    }

    fn of(&self, lifted: &Lifted<'_>, instance: InstanceId) -> InstanceId {
        self.image(lifted.exe, instance)
    }

    fn image(&self, exe: &Executable, instance: InstanceId) -> InstanceId {
        if instance == self.a.0 {
            return self.b.0;
        }
        if instance == self.b.0 {
            return self.a.0;
        }
        let path = exe.instances.path(instance);
        let moved = |from: &[u32], to: &[u32]| {
            let rest = path.strip_prefix(from)?;
            let path: Vec<u32> = to.iter().chain(rest).copied().collect();
            Some(exe.instances.at_path(&path))
        };
        moved(&self.a.1, &self.b.1).or_else(|| moved(&self.b.1, &self.a.1)).unwrap_or(instance)
    }

    /// Where one machine is the image of the other, within a guard.
    fn is_image(
        &self,
        lifted: &mut Lifted<'_>,
        here: &LiftedLocal,
        there: &LiftedLocal,
        within: Guard,
    ) -> Guard {
        let mut image = LiftedLocal::nowhere(&lifted.values);
        for &(number, guard) in &there.points {
            let point = self.point(lifted, number);
            let number = lifted.points.number(point);
            image.put(&mut lifted.values, number, guard);
        }
        image.registers = there.registers.iter().map(|register| self.summary(lifted, register)).collect();
        image.after = self.summary(lifted, &there.after);
        image.pending = self.summary(lifted, &there.pending);
        image.inbox = self.summary(lifted, &there.inbox);
        here.same(&image, &mut lifted.values, within)
    }

    fn point(&self, lifted: &Lifted<'_>, number: u32) -> Point {
        let mut point = lifted.points.get(number).clone();
        if let Stand::Deliver { target, .. } = &mut point.stand {
            *target = self.of(lifted, *target);
        }
        point
    }

    fn value(&self, lifted: &mut Lifted<'_>, value: Value) -> Value {
        let exe = lifted.exe;
        lifted.values.store.rename(value, &|instance| self.image(exe, instance))
    }

    fn summary(&self, lifted: &mut Lifted<'_>, summary: &Shared) -> Shared {
        let spine: Vec<(Value, Guard)> =
            summary.spine().iter().map(|&(value, guard)| (self.value(lifted, value), guard)).collect();
        let mut has_changed = spine.iter().zip(summary.spine()).any(|(a, b)| a.0 != b.0);
        let mut parts = Vec::with_capacity(summary.parts().len());
        for part in summary.parts() {
            let image = Part {
                kind: part.kind,
                key: self.value(lifted, part.key),
                summary: self.summary(lifted, &part.summary),
            };
            has_changed |= image.key != part.key || !std::rc::Rc::ptr_eq(&image.summary, &part.summary);
            parts.push(image);
        }
        if has_changed { lifted.values.build(spine, parts) } else { summary.clone() }
    }
}

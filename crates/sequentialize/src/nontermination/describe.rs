//! A certified lasso in the words that both languages share.

use allways_boogie::check::{Checked, Ty, TyKind};
use allways_boogie::interp::machine::pending::Pending;
use allways_boogie::interp::{Code, Conf, Move, Value};
use allways_run::{Change, Dispatch, Lasso, Message, Sent, SentFate};

use super::lasso::{Certificate, is_same};
use super::shift;

/// Describes stem and first turn.
pub fn describe(code: &Code, certificate: &Certificate) -> Lasso {
    let n_shown = certificate.n_stem + certificate.n_loop;
    let tasks: Vec<usize> = certificate.run.segments[..n_shown]
        .iter()
        .map(|segment| match segment.made {
            Move::Run(task) | Move::Delay(task, _) | Move::Abandon(task) => task,
        })
        .collect();
    let mut dispatches: Vec<Dispatch> = Vec::new();
    for (number, &task) in tasks.iter().enumerate() {
        let (before, after) = (&certificate.confs[number], &certificate.confs[number + 1]);
        let message = find(code, before, task).unwrap_or_else(|| Message {
            name: procedure_name(code, after.tasks[task].procedure),
            arguments: Vec::new(),
        });
        let sent = after.tasks[task].children.iter().filter_map(|&child| {
            let message = find(code, after, child)?;
            let fate = match tasks.iter().position(|&other| other == child) {
                Some(dispatch) => SentFate::Dispatched(dispatch),
                None if certificate.replaces.iter().any(|&(again, _)| again == child) => SentFate::NextTurn,
                None => SentFate::PilesUp,
            };
            Some(Sent { target: None, message, fate })
        });
        dispatches.push(Dispatch {
            receiver: None,
            message,
            cause: after.tasks[task]
                .parent
                .and_then(|parent| tasks.iter().position(|&other| other == parent)),
            changes: changes(code, before, after),
            sent: sent.collect(),
        });
    }
    let cycle = dispatches.split_off(certificate.n_stem);
    let starved = starved(code, certificate, &tasks[certificate.n_stem..]);
    Lasso { stem: dispatches, cycle, shift: certificate.shift, starved }
}

/// What is pending at the end of the first turn, is not dispatched in the second, and is like nothing in the loop.
fn starved(code: &Code, certificate: &Certificate, looped: &[usize]) -> Vec<Message> {
    let start = &certificate.confs[certificate.n_stem];
    let end = &certificate.confs[certificate.n_stem + certificate.n_loop];
    // All tasks that the turn dispatches, as they were when they were pending.
    let dispatched: Vec<Pending> = (certificate.n_stem..certificate.n_stem + certificate.n_loop)
        .zip(looped)
        .filter_map(|(at, &task)| {
            let pending = certificate.confs[at].pending(code)?;
            pending.into_iter().find(|pending| pending.task == task)
        })
        .collect();
    let is_alike = |one: &Pending, other: &Pending| {
        let marks = shift::marked_params(code, one.procedure);
        let types = &code.procedures[one.procedure].types;
        one.procedure == other.procedure
            && one
                .args
                .iter()
                .zip(&other.args)
                .zip(types.iter().zip(marks))
                .all(|((one, other), (&ty, marked))| marked || is_same(&code.checked, ty, one, other, 0))
    };
    let mut found: Vec<Message> = Vec::new();
    let pending = [start, end].into_iter().filter_map(|conf| conf.pending(code)).flatten();
    for pending in pending {
        let message = message(code, end, &pending);
        let is_served = dispatched.iter().any(|other| is_alike(&pending, other));
        if !is_served && !found.contains(&message) {
            found.push(message);
        }
    }
    found
}

fn procedure_name(code: &Code, procedure: usize) -> String {
    code.checked.program.text(code.procedures[procedure].name).to_owned()
}

/// A pending task as a message.
fn find(code: &Code, conf: &Conf, task: usize) -> Option<Message> {
    let pending = conf.pending(code)?.into_iter().find(|pending| pending.task == task)?;
    Some(message(code, conf, &pending))
}

fn message(code: &Code, conf: &Conf, pending: &Pending) -> Message {
    let procedure = &code.procedures[pending.procedure];
    let named =
        procedure.names.iter().zip(&pending.args).map(|(&name, value)| {
            (code.checked.program.text(name).to_owned(), show(&code.checked, conf, value))
        });
    Message { name: procedure_name(code, pending.procedure), arguments: named.collect() }
}

/// The globals that differ, maps entry by entry.
fn changes(code: &Code, before: &Conf, after: &Conf) -> Vec<Change> {
    let checked = &code.checked;
    let mut found = Vec::new();
    for ((old, new), &var) in before.globals.iter().zip(&after.globals).zip(&checked.globals) {
        let info = &checked.vars[var];
        difference(checked, after, checked.program.text(info.name.symbol), info.ty, old, new, &mut found);
    }
    found
}

fn difference(
    checked: &Checked,
    conf: &Conf,
    name: &str,
    ty: Ty,
    before: &Value,
    after: &Value,
    found: &mut Vec<Change>,
) {
    if is_same(checked, ty, before, after, 0) {
        return;
    }
    if let (Value::Map(old), Value::Map(new), TyKind::Map(_, result)) =
        (before, after, checked.types.kind(ty))
        && old.default_value() == new.default_value()
    {
        let indices: std::collections::BTreeSet<&[Value]> =
            old.entries().chain(new.entries()).map(|(index, _)| index).collect();
        for index in indices {
            let shown: Vec<String> = index.iter().map(|value| show(checked, conf, value)).collect();
            let name = format!("{name}[{}]", shown.join(", "));
            difference(checked, conf, &name, *result, old.get(index), new.get(index), found);
        }
        return;
    }
    found.push(Change {
        name: name.to_owned(),
        before: show(checked, conf, before),
        after: show(checked, conf, after),
    });
}

/// A value; elements of uninterpreted types by the name of a constant, or by their type.
fn show(checked: &Checked, conf: &Conf, value: &Value) -> String {
    let Value::Element(ty, number) = value else { return value.to_string() };
    let constant = conf.world.consts.iter().position(|known| known.as_ref() == Some(value));
    match constant.and_then(|slot| checked.consts.get(slot)) {
        Some(&var) => checked.program.text(checked.vars[var].name.symbol).to_owned(),
        None => format!("{}#{number}", checked.show_type(*ty)),
    }
}

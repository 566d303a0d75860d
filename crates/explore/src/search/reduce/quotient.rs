//! Whether quotients are bisimulations on a program: for comparisons, not for proofs.
//!
//! A quotient (symmetry, counters) replaces a configuration by a representative. That is sound if all configurations with one
//! representative have successors with the same representatives, break a property alike, and come to an end alike. Here all configurations of a
//! small program are enumerated without a quotient, and this is checked for each of them; then the same from representatives only, which
//! have to be those of the whole. A wrong condition shows here in almost any program that reaches it, where a comparison of verdicts
//! needs a property that depends on it.

use allways_base::Idx;
use std::sync::{Arc, Mutex};

use allways_machine::configuration::Roster;
use allways_machine::value::{Form, Value};
use allways_machine::{Executable, Local, Scene};
use allways_run::Quiet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Never;
use crate::search::context::Context;
use crate::search::local::states::{LocalStateId, LocalStates};
use crate::search::lock;
use crate::search::options::ProveOptions;
use crate::search::successors::{Collect, Purpose, Successors};

type Vector = Box<[LocalStateId]>;

/// What a representative says of all configurations that it stands for.
#[derive(PartialEq, Eq, Debug)]
struct Behaviour {
    /// The representatives of the successors, in order, each once.
    successors: Vec<Vector>,
    breaks: bool,
    is_terminal: bool,
    /// Monitors that can be hot, that can be cold in some step, whatever it leads to.
    heat: Vec<(u64, u64)>,
}

/// A program whose quotient is a bisimulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quotient {
    pub n_configurations: usize,
    pub n_representatives: usize,
}

/// Checks the quotient of the options on all configurations of a test; nothing if these are more than so many, or where a step cannot be known.
///
/// # Errors
/// Two configurations that the quotient takes to be one, and that behave differently, in words.
pub fn check_quotient(
    exe: &Arc<Executable>,
    options: &ProveOptions,
    max_configurations: usize,
) -> Result<Option<Quotient>, String> {
    let reductions = options.reductions.within(&options.setting(exe, false));
    let options = &ProveOptions { reductions, n_threads: 1, ..options.clone() };
    let limits = options.limits;
    let mut locals =
        LocalStates::new(exe, limits, options.bounds, false, reductions.simplify(), false, &Never);
    locals.renumbers = reductions.counters;
    let locals = Mutex::new(locals);
    let cx = Context {
        is_symmetric: reductions.symmetry,
        collects_garbage: reductions.machine_garbage,
        renumbers: reductions.counters,
        ..Context::plain(options, &locals, &Quiet, &Never)
    };
    let beginning = lock(&locals).begin();
    let mut successors = Successors::new(cx, Purpose::Liveness);
    let mut behaviours: FxHashMap<Vector, (Vector, Behaviour)> = FxHashMap::default();
    let first = beginning.vectors.iter().map(|(_, vector)| vector.clone().into_boxed_slice());
    let mut open: Vec<Vector> = first.collect();
    let mut starts = Vec::new();
    for vector in &open {
        starts.push(Vector::from(successors.canonical(vector)));
    }
    let mut seen: FxHashSet<Vector> = open.iter().cloned().collect();
    while let Some(vector) = open.pop() {
        if seen.len() > max_configurations {
            return Ok(None);
        }
        let mut sink = Collect::default();
        let standing = successors.expand_fully(&vector, &mut sink);
        if successors.expander.memo.unknown.is_some() || !sink.cuts.is_empty() {
            return Ok(None);
        }
        let behaviour = behaviour(&mut successors, &sink, standing.n_enabled == 0);
        for at in 0..sink.vectors.len() {
            let next = sink.vectors.get(at);
            if !seen.contains(next) {
                seen.insert(next.into());
                open.push(next.into());
            }
        }
        let representative = Vector::from(successors.canonical(&vector));
        if let Some((other, known)) = behaviours.get(&representative) {
            if *known != behaviour {
                return Err(differ(&lock(&locals), &[other, &vector, &representative], &[known, &behaviour]));
            }
        } else {
            behaviours.insert(representative, (vector, behaviour));
        }
    }
    // From representatives, which need not be reachable themselves.
    let mut reached: FxHashSet<Vector> = starts.iter().cloned().collect();
    let mut open = starts;
    while let Some(vector) = open.pop() {
        let mut sink = Collect::default();
        let standing = successors.expand_fully(&vector, &mut sink);
        let found = behaviour(&mut successors, &sink, standing.n_enabled == 0);
        let again = Vector::from(successors.canonical(&vector));
        if again != vector {
            return Err(format!("a representative is none: {}", shown(&lock(&locals), &vector)));
        }
        match behaviours.get(&vector) {
            Some((_, known)) if *known == found => {}
            Some((other, known)) => {
                return Err(differ(&lock(&locals), &[other, &vector, &vector], &[known, &found]));
            }
            None => {
                let shown = shown(&lock(&locals), &vector);
                return Err(format!("no configuration of the program is represented by {shown}"));
            }
        }
        for next in found.successors {
            if reached.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    if reached.len() != behaviours.len() {
        return Err(format!("{} representatives of {} were reached", reached.len(), behaviours.len()));
    }
    Ok(Some(Quotient { n_configurations: seen.len(), n_representatives: reached.len() }))
}

fn behaviour(successors: &mut Successors<'_>, sink: &Collect, is_terminal: bool) -> Behaviour {
    let mut next: Vec<Vector> =
        (0..sink.vectors.len()).map(|at| successors.canonical(sink.vectors.get(at)).into()).collect();
    next.sort_unstable();
    next.dedup();
    let mut heat = sink.heat.clone();
    heat.sort_unstable();
    heat.dedup();
    Behaviour { successors: next, breaks: sink.broken.is_some(), is_terminal, heat }
}

fn differ(locals: &LocalStates<'_>, vectors: &[&Vector; 3], behaviours: &[&Behaviour; 2]) -> String {
    let [a, b, representative] = vectors.map(|vector| shown(locals, vector));
    let [first, second] = behaviours;
    let only = |some: &Behaviour, other: &Behaviour| -> String {
        let only = some.successors.iter().filter(|next| !other.successors.contains(next));
        only.map(|next| format!("\n  leads to {}", shown(locals, next))).collect()
    };
    format!(
        "{a} breaks {} ends {}{}\nand {b} breaks {} ends {}{}\nare both represented by {representative}",
        first.breaks,
        first.is_terminal,
        only(first, second),
        second.breaks,
        second.is_terminal,
        only(second, first),
    )
}

fn shown(locals: &LocalStates<'_>, vector: &[LocalStateId]) -> String {
    let (store, roster) = (locals.kernel.store(), Roster::default());
    let scene = Scene { exe: &locals.exe, store, roster: &roster };
    let text = |value: Value| scene.text(Form::Log, value);
    let parts = vector.iter().enumerate().filter(|(_, local)| !local.is_absent());
    let parts = parts.map(|(slot, &local)| {
        let Local { control, status, registers, inbox, .. } = &locals.states[local.index()].local;
        let values: Vec<String> = registers.iter().map(|&value| text(value)).collect();
        let inbox = inbox
            .iter()
            .map(|message| format!("{} {}", locals.exe.event_name(message.event), text(message.payload)));
        let (values, inbox) = (values.join(", "), inbox.collect::<Vec<_>>().join(", "));
        format!("{slot}: {control:?} {status:?} [{values}] inbox [{inbox}]")
    });
    parts.collect::<Vec<_>>().join("; ")
}

//! Everything that an exploration reached, for comparison with other engines.

use std::sync::Arc;

use allways_base::Idx;
use allways_machine::encode::encode_whole;
use allways_machine::{Executable, Kernel, Local, Outcome, Pending, Simplify, Status};
use allways_run::{InstanceId, Never, Quiet, StopReason, Violation};

use super::engine::{Move, Search, SearchEnd};
use super::options::{AlmostSyncOptions, FloodRule};
use super::places::{ABSENT, GONE};
use crate::error::InternalError;
use crate::search::counterexample;
use crate::search::local::states::{Owner, Slot};

/// The local states and violations of a finished exploration that goes on after violations.
pub struct Survey {
    pub locals: Vec<(InstanceId, Local)>,
    /// By monitor.
    pub monitors: Vec<Vec<Local>>,
    /// Each as its schedule replays it.
    pub violations: Vec<Violation>,
    pub unknown: Option<StopReason>,
    /// Has the values of the locals.
    pub kernel: Kernel<'static>,
    pub n_states: u64,
    pub largest_inbox: u32,
    pub is_approximate: bool,
    /// Violations of an approximate exploration that do not replay.
    pub n_doubts: u64,
}

/// Explores a test. `None` when there are more states than the options allow.
///
/// # Errors
/// When a violation of an exact exploration does not replay.
pub fn survey(exe: &Arc<Executable>, options: &AlmostSyncOptions) -> Result<Option<Survey>, InternalError> {
    let bound = match options.flood {
        FloodRule::Auto | FloodRule::Off => None,
        FloodRule::Bound(bound) => Some(bound),
    };
    let mut search = Search::new(exe, options, bound, &Quiet, &Never);
    search.keeps_all = true;
    if search.run(None, None)? != SearchEnd::Exhausted {
        return Ok(None);
    }
    if !search.places.is_approximate && options.simplify == Simplify::default() {
        replay_places(&mut search, options)?;
    }
    let mut violations = Vec::new();
    let mut n_doubts = 0;
    let mut ways: Vec<_> = search.first_steps().collect();
    for broken in search.broken.clone() {
        ways.push(search.way(broken));
    }
    for steps in ways {
        let kernel = counterexample::run(exe, options.limits, &steps);
        match kernel.as_ref().map(Kernel::outcome) {
            Ok(Outcome::Violated(violation)) => violations.push((**violation).clone()),
            _ if search.places.is_approximate => n_doubts += 1,
            Ok(other) => return Err(InternalError::differs("a violation", other)),
            Err(error) => return Err(error.clone()),
        }
    }
    let n_monitors = exe.monitors.len();
    let mut seen = vec![false; search.places.len()];
    let mut found = Survey {
        locals: Vec::new(),
        monitors: vec![Vec::new(); n_monitors],
        violations,
        unknown: search.unknown.clone(),
        n_states: search.states.len() as u64,
        largest_inbox: search.places.locals.largest_inbox() as u32,
        is_approximate: search.places.is_approximate,
        n_doubts,
        kernel: Kernel::new(exe.clone(), options.limits),
    };
    let mut add = |slot: Slot, place: u32| {
        if !std::mem::replace(&mut seen[place as usize], true) {
            let local = search.places.locals.local(search.places.local(place)).clone();
            match search.places.locals.owner(slot) {
                Owner::Machine(instance) => found.locals.push((instance, local)),
                Owner::Monitor(monitor) => found.monitors[monitor as usize].push(local),
                Owner::Network(_) => {}
            }
        }
    };
    for state in 0..search.states.len() as u32 {
        for (slot, &place) in search.states.get(state).iter().enumerate() {
            if place != ABSENT && place != GONE {
                add(Slot::new(slot), place);
            }
        }
    }
    let halted: Vec<u32> = search.halted.keys().copied().collect();
    for place in halted {
        let owner = search.places.locals.owner_of(search.places.local(place));
        if let Owner::Machine(instance) = owner {
            found.locals.push((instance, search.places.locals.local(search.places.local(place)).clone()));
        }
    }
    found.kernel = search.places.locals.into_kernel();
    Ok(Some(found))
}

/// Every place that was met is one of a run: the kernel makes the steps to the first state that has it, and stands there.
fn replay_places(search: &mut Search<'_>, options: &AlmostSyncOptions) -> Result<(), InternalError> {
    let mut seen = vec![false; search.places.len()];
    for state in 0..search.states.len() as u32 {
        let new: Vec<(Slot, u32)> = (0..)
            .map(Slot::new)
            .zip(search.states.get(state).iter().copied())
            .filter(|&(_, place)| place != ABSENT && place != GONE)
            .filter(|&(_, place)| !std::mem::replace(&mut seen[place as usize], true))
            .collect();
        if new.is_empty() {
            continue;
        }
        let steps = search.way_to(state);
        let kernel = counterexample::run(search.exe, options.limits, &steps)?;
        for (slot, place) in new {
            replayed(search, &kernel, slot, place)?;
        }
    }
    let mut halted: Vec<(u32, (u32, Move))> = search.halted.iter().map(|(&place, &by)| (place, by)).collect();
    halted.sort_unstable_by_key(|&(place, _)| place);
    for (place, by) in halted {
        let steps = search.way_by(by);
        let kernel = counterexample::run(search.exe, options.limits, &steps)?;
        let owner = search.places.locals.owner_of(search.places.local(place));
        let is_halted = matches!(owner, Owner::Machine(instance)
            if kernel.configuration().local(instance).status == Status::Halted);
        if !is_halted {
            return Err(InternalError::differs("a machine that has halted", kernel.outcome()));
        }
    }
    Ok(())
}

fn replayed(search: &Search<'_>, kernel: &Kernel, slot: Slot, place: u32) -> Result<(), InternalError> {
    let local = search.places.local(place);
    let there = match search.places.locals.owner(slot) {
        Owner::Machine(instance) => kernel.configuration().local(instance),
        Owner::Monitor(monitor) => &kernel.configuration().monitors[monitor as usize],
        Owner::Network(_) => return Ok(()),
    };
    let here = search.places.locals.local(local);
    // Of a machine that will fail, local states keep that alone.
    let agree = match (here.status, there.status) {
        (Status::Pending(Pending::Fault(here)), Status::Pending(Pending::Fault(there))) => {
            (here.kind, here.span) == (there.kind, there.span)
        }
        _ => {
            let mut bytes = Vec::new();
            encode_whole(search.exe, kernel.store(), there, &mut bytes);
            bytes == search.places.locals.encoded(local)
        }
    };
    if agree {
        return Ok(());
    }
    Err(InternalError::OtherOutcome {
        expected: format!("{} as {:?}", search.places.machine_name(slot, place), here.status),
        found: format!("{:?}", there.status),
    })
}

//! Liveness of monitors under `random` fairness (docs/semantics.md, section 6), by backward reachability.
//!
//! A violation is a bottom strongly connected component with a hot step and no cold one. No graph is needed to find it: let N be
//! the configurations from which no cold step is reachable, and B those of N from which every reachable configuration can
//! reach a hot step. N and B are closed under steps. If B is not empty, each bottom component within it has a hot
//! step; and a bottom component of that kind is within B. A crash is no step here, since no machine has to crash.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use allways_machine::Executable;
use allways_mdd::{Backward, Filter, Halt, Node, Rings};
use allways_p::hir::Temperature;
use allways_run::{Counterexample, Progress};
use rustc_hash::FxHashSet;

use super::engine::Search;
use super::path::{self, Goal, contains, start_set, state_vector, values_of};
use super::steps::CRASH_LABEL;
use crate::error::InternalError;
use crate::liveness::Fairness;
use crate::search::context::Context;
use crate::search::counterexample::{StepName, names};
use crate::search::expand::{CRASH, Move};
use crate::search::liveness::graph::{MAX_LAPS, repeat_lap};
use crate::search::local::states::LocalStateId;
use crate::search::successors::Collect;

pub(crate) enum Failure {
    Halt(Halt),
    Internal(InternalError),
}

impl From<Halt> for Failure {
    fn from(halt: Halt) -> Self {
        Failure::Halt(halt)
    }
}

impl From<InternalError> for Failure {
    fn from(error: InternalError) -> Self {
        Failure::Internal(error)
    }
}

/// A violation by an infinite run, if there is one.
pub(crate) fn check(
    cx: Context<'_>,
    exe: &Arc<Executable>,
    reach: &mut Search<'_>,
    reached: Node,
    starts: &[(Vec<u32>, Vec<LocalStateId>)],
    shows: &AtomicBool,
) -> Result<Option<Counterexample>, Failure> {
    cx.observer.progress(&Progress { phase: Some("liveness"), ..Progress::default() });
    let is_step = |events: &allways_mdd::Events, event| events.label(event) != CRASH_LABEL;
    let backward = reach.backward_where(&Filter { event: &is_step, reaction: &|_, _, _| true });
    for monitor in 0..exe.monitors.len() as u32 {
        let n_kept = reach.kept.len();
        let hot = steps_at(reach, &backward, reached, monitor, Temperature::Hot)?;
        reach.kept.push(hot);
        let cold = steps_at(reach, &backward, reached, monitor, Temperature::Cold)?;
        let found = violating(reach, &backward, reached, hot, cold)?;
        if !found.is_empty() {
            reach.kept.push(found);
            shows.store(true, Ordering::Relaxed);
            let lasso = Lasso { cx, exe, backward: &backward, monitor, hot };
            return lasso.show(reach, found, starts).map(Some);
        }
        reach.kept.truncate(n_kept);
    }
    Ok(None)
}

/// The configurations that have a step in which, or after which, a monitor is hot or cold.
fn steps_at(
    reach: &mut Search<'_>,
    backward: &Backward,
    reached: Node,
    monitor: u32,
    temperature: Temperature,
) -> Result<Node, Halt> {
    let Search { diagrams, events, steps, .. } = &mut *reach;
    let level = events.level_of(monitor);
    let after = diagrams
        .all(reached, |at, value| at != level || steps.temperature(monitor, value) == Some(temperature))?;
    let before = reach.preimage(backward, after)?;
    let passing: FxHashSet<(u32, u32, u32)> = match temperature {
        Temperature::Hot => reach.steps.passes_hot.clone(),
        Temperature::Cold => reach.steps.passes_cold.clone(),
        Temperature::Warm => FxHashSet::default(),
    };
    let observed: FxHashSet<u32> =
        passing.iter().filter(|&&(slot, ..)| slot == monitor).map(|&(_, action, _)| action).collect();
    let mut before = before;
    if !observed.is_empty() {
        let event = |events: &allways_mdd::Events, event| {
            events.label(event) != CRASH_LABEL
                && events.parties(event).any(|(slot, action)| slot == monitor && observed.contains(&action))
        };
        let reaction = |slot, action, value| slot != monitor || passing.contains(&(slot, action, value));
        let in_passing = reach.backward_where(&Filter { event: &event, reaction: &reaction });
        let more = reach.preimage(&in_passing, reached)?;
        before = reach.diagrams.union(before, more)?;
    }
    reach.diagrams.intersect(before, reached)
}

/// The configurations from which every run, as it goes on, meets hot steps again and again and never a cold one.
fn violating(
    reach: &mut Search<'_>,
    backward: &Backward,
    reached: Node,
    hot: Node,
    cold: Node,
) -> Result<Node, Halt> {
    if hot.is_empty() {
        return Ok(Node::EMPTY);
    }
    let n_kept = reach.kept.len();
    let (_, may_cool) = reach.rings(backward, cold, reached)?;
    let never_cold = reach.diagrams.minus(reached, may_cool)?;
    reach.kept.push(never_cold);
    let (_, may_heat) = reach.rings(backward, hot, never_cold)?;
    let never_hot = reach.diagrams.minus(never_cold, may_heat)?;
    let (_, may_rest) = reach.rings(backward, never_hot, never_cold)?;
    reach.kept.truncate(n_kept);
    reach.diagrams.minus(never_cold, may_rest)
}

struct Lasso<'a, 'l> {
    cx: Context<'a>,
    exe: &'l Arc<Executable>,
    backward: &'l Backward,
    monitor: u32,
    /// Configurations with a hot step.
    hot: Node,
}

impl Lasso<'_, '_> {
    /// A run into a bottom component, and one round in it by a hot step.
    fn show(
        &self,
        reach: &mut Search<'_>,
        violating: Node,
        starts: &[(Vec<u32>, Vec<LocalStateId>)],
    ) -> Result<Counterexample, Failure> {
        let (home, within, home_rings) = self.bottom(reach, violating)?;
        let (hot_rings, _) = reach.rings(self.backward, self.hot, within)?;
        let mut lap = Vec::new();
        let at = self.follow(reach, home.clone(), &hot_rings, &mut lap)?;
        let at = self.hot_step(reach, &at, &mut lap)?;
        let at = self.follow(reach, at, &home_rings, &mut lap)?;
        debug_assert_eq!(at, home);
        let target = reach.diagrams.vector(&home)?;
        reach.kept.push(target);
        let start = start_set(reach, starts)?;
        let found = path::find(reach, start, Goal::Set(target), false)?;
        let run = found.and_then(|found| path::moves(reach, &found.vectors, found.goal, starts));
        let Some(run) = run else { return Err(lost().into()) };
        let mut stem = vec![StepName::first(run.answers.clone())];
        stem.extend(names(self.cx, &run.first, &run.moves));
        let home = state_vector(reach, &home);
        let limits = self.cx.options.limits;
        let lap = &mut || Ok(names(self.cx, &home, &lap));
        let found =
            repeat_lap(self.exe, limits, &stem, lap, MAX_LAPS, self.monitor as usize, Fairness::Random)?;
        Ok(found.ok_or_else(lost)?)
    }

    /// A configuration of a bottom component, the configurations that can reach it, all of a set that is closed under steps, and
    /// their distance from it.
    fn bottom(&self, reach: &mut Search<'_>, violating: Node) -> Result<(Vec<u32>, Node, Rings), Failure> {
        let mut left = violating;
        loop {
            let Some(home) = reach.diagrams.pick(left) else { return Err(lost().into()) };
            reach.kept.push(left);
            let one = reach.diagrams.vector(&home)?;
            let (rings, reaching) = reach.rings(self.backward, one, left)?;
            // What cannot reach it never will, so the rest is closed under steps too.
            let rest = reach.diagrams.minus(left, reaching)?;
            if rest.is_empty() {
                reach.kept.extend(&rings);
                return Ok((home, left, rings));
            }
            left = rest;
        }
    }

    /// Goes on from a vector, ring by ring, to the first of the rings.
    fn follow(
        &self,
        reach: &mut Search<'_>,
        from: Vec<u32>,
        rings: &[Node],
        moves: &mut Vec<Move>,
    ) -> Result<Vec<u32>, Failure> {
        let mut at = from;
        let Some(mut ring) = rings.iter().position(|&ring| contains(reach, ring, &at)) else {
            return Err(lost().into());
        };
        while ring > 0 {
            ring -= 1;
            let is_next = |reach: &Search<'_>, values: &[u32], _: u64| contains(reach, rings[ring], values);
            at = self.step(reach, &at, is_next, moves)?;
        }
        Ok(at)
    }

    /// A step in which, or after which, the monitor is hot.
    fn hot_step(
        &self,
        reach: &mut Search<'_>,
        at: &[u32],
        moves: &mut Vec<Move>,
    ) -> Result<Vec<u32>, Failure> {
        let level = reach.events.level_of(self.monitor) as usize - 1;
        let is_hot = |reach: &Search<'_>, values: &[u32], hot: u64| {
            hot.checked_shr(self.monitor).unwrap_or(0) & 1 == 1
                || reach.steps.temperature(self.monitor, values[level]) == Some(Temperature::Hot)
        };
        self.step(reach, at, is_hot, moves)
    }

    /// The first step of a configuration, no crash, that leads where `is_it` says.
    fn step(
        &self,
        reach: &mut Search<'_>,
        at: &[u32],
        is_it: impl Fn(&Search<'_>, &[u32], u64) -> bool,
        moves: &mut Vec<Move>,
    ) -> Result<Vec<u32>, Failure> {
        let vector = state_vector(reach, at);
        let mut sink = Collect::default();
        reach.steps.expander.expand(&vector, &mut sink);
        for place in 0..sink.moves.len() {
            if sink.moves[place].delivered == CRASH {
                continue;
            }
            let values = values_of(reach, sink.vectors.get(place));
            if is_it(reach, &values, sink.heat[place].0) {
                moves.push(sink.moves[place]);
                return Ok(values);
            }
        }
        Err(lost().into())
    }
}

pub(super) fn lost() -> InternalError {
    InternalError::differs("a step of a lasso", &allways_machine::Outcome::Running)
}

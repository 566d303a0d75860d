//! Coverage of scenarios: in how many schedules each was satisfied, and how far the others came.
//!
//! A scenario is satisfied when a schedule makes it enter a cold state, other than by starting in it. Schedules that satisfy it are distinguished by
//! their *timelines*: for each machine type, which events were taken after which others. Programs without scenarios cost nothing.

use std::hash::Hasher as _;

use allways_base::{Idx, IndexVec};
use allways_machine::ir::{ControlId, EventId, MachineId};
use allways_machine::{Actor, Executable, Note};
use allways_p::hir::Temperature;
use rustc_hash::{FxHashSet, FxHasher};

use crate::wire::{Read, get_length, get_number, put_number};

/// What testing knows of one scenario.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ScenarioCoverage {
    /// Index among the monitors of the executable.
    pub monitor: usize,
    /// Schedules that satisfied it.
    pub n_satisfying: u64,
    timelines: FxHashSet<u64>,
    /// The most control states of it that one schedule visited.
    pub most_visited: usize,
    pub n_states: usize,
}

impl ScenarioCoverage {
    /// Different timelines of the schedules that satisfied it.
    pub fn n_timelines(&self) -> usize {
        self.timelines.len()
    }

    pub fn is_satisfied(&self) -> bool {
        self.n_satisfying > 0
    }

    /// What other schedules add, for another process.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put_number(out, self.n_satisfying);
        put_number(out, self.most_visited as u64);
        let mut timelines: Vec<u64> = self.timelines.iter().copied().collect();
        timelines.sort_unstable();
        put_number(out, timelines.len() as u64);
        timelines.into_iter().for_each(|timeline| put_number(out, timeline));
    }

    pub(super) fn get(bytes: &mut &[u8]) -> Read<Self> {
        let (n_satisfying, most_visited) = (get_number(bytes)?, get_number(bytes)? as usize);
        let n = get_length(bytes)?;
        let timelines = (0..n).map(|_| get_number(bytes)).collect::<Read<_>>()?;
        Ok(ScenarioCoverage { n_satisfying, most_visited, timelines, ..ScenarioCoverage::default() })
    }
}

/// Of every scenario that is attached, without any schedule.
pub(crate) fn none_covered(exe: &Executable) -> Vec<ScenarioCoverage> {
    let machines = exe.monitors.iter().map(|monitor| monitor.machine).enumerate();
    let scenarios = machines.filter(|&(_, machine)| exe.machines[machine].is_scenario);
    let of = |(monitor, machine): (usize, MachineId)| {
        let n_states = exe.states.iter().filter(|state| state.machine == machine).count();
        ScenarioCoverage { monitor, n_states, ..ScenarioCoverage::default() }
    };
    scenarios.map(of).collect()
}

/// Adds what other schedules covered.
pub(crate) fn merge(all: &mut [ScenarioCoverage], others: Vec<ScenarioCoverage>) {
    for (all, other) in all.iter_mut().zip(others) {
        all.n_satisfying += other.n_satisfying;
        all.timelines.extend(other.timelines);
        all.most_visited = all.most_visited.max(other.most_visited);
    }
}

/// Listens to one schedule at a time.
pub(crate) struct ScenarioWatch {
    /// By monitor: the place in `runs`.
    places: Vec<Option<usize>>,
    runs: Vec<Run>,
    is_cold: IndexVec<ControlId, bool>,
    /// By machine type: the events that were taken, and by event those taken before it, as bits.
    timelines: IndexVec<MachineId, Timeline>,
    machines: IndexVec<ControlId, MachineId>,
    /// Since the last call of [`ScenarioWatch::take`].
    covered: Vec<ScenarioCoverage>,
}

/// One scenario in the present schedule.
#[derive(Clone, Default)]
struct Run {
    has_left_start: bool,
    is_satisfied: bool,
    visited: FxHashSet<ControlId>,
}

#[derive(Clone)]
struct Timeline {
    n_words: usize,
    taken: Vec<u64>,
    before: Vec<u64>,
}

impl Timeline {
    fn take(&mut self, event: EventId) {
        let (word, bit) = (event.index() / 64, 1 << (event.index() % 64));
        let from = event.index() * self.n_words;
        for (before, taken) in self.before[from..from + self.n_words].iter_mut().zip(&self.taken) {
            *before |= taken;
        }
        self.taken[word] |= bit;
    }
}

impl ScenarioWatch {
    /// `None` if no scenario is attached.
    pub fn new(exe: &Executable) -> Option<Self> {
        let covered = none_covered(exe);
        if covered.is_empty() {
            return None;
        }
        let mut places = vec![None; exe.monitors.len()];
        for (place, scenario) in covered.iter().enumerate() {
            places[scenario.monitor] = Some(place);
        }
        let n_words = exe.n_events().div_ceil(64);
        let timeline =
            Timeline { n_words, taken: vec![0; n_words], before: vec![0; n_words * exe.n_events()] };
        Some(ScenarioWatch {
            places,
            runs: vec![Run::default(); covered.len()],
            is_cold: exe.states.iter().map(|state| state.temperature == Temperature::Cold).collect(),
            timelines: vec![timeline; exe.machines.len()].into(),
            machines: exe.states.iter().map(|state| state.machine).collect(),
            covered,
        })
    }

    pub fn note(&mut self, note: &Note) {
        match *note {
            Note::Dequeue { state, message, .. } | Note::Receive { state, message, .. } => {
                self.timelines[self.machines[state]].take(message.event);
            }
            Note::Exit { actor: Actor::Monitor(monitor), state } => {
                if let Some(place) = self.places[monitor as usize] {
                    self.runs[place].has_left_start = true;
                    self.runs[place].visited.insert(state);
                }
            }
            Note::Enter { actor: Actor::Monitor(monitor), state } => {
                if let Some(place) = self.places[monitor as usize] {
                    let run = &mut self.runs[place];
                    run.visited.insert(state);
                    run.is_satisfied |= run.has_left_start && self.is_cold[state];
                }
            }
            _ => {}
        }
    }

    /// A schedule begins.
    pub fn begin(&mut self) {
        for run in &mut self.runs {
            run.has_left_start = false;
            run.is_satisfied = false;
            run.visited.clear();
        }
        for timeline in self.timelines.iter_mut() {
            timeline.taken.fill(0);
            timeline.before.fill(0);
        }
    }

    /// A schedule has ended, and counts.
    pub fn end(&mut self) {
        let timeline = self.runs.iter().any(|run| run.is_satisfied).then(|| self.timeline());
        for (covered, run) in self.covered.iter_mut().zip(&self.runs) {
            // The start state was visited even if the scenario never left it.
            covered.most_visited = covered.most_visited.max(run.visited.len()).max(1);
            if run.is_satisfied {
                covered.n_satisfying += 1;
                covered.timelines.extend(timeline);
            }
        }
    }

    fn timeline(&self) -> u64 {
        let mut hasher = FxHasher::default();
        for timeline in self.timelines.iter() {
            for &word in timeline.taken.iter().chain(&timeline.before) {
                hasher.write_u64(word);
            }
        }
        hasher.finish()
    }

    /// What was covered since the last call.
    pub fn take(&mut self) -> Vec<ScenarioCoverage> {
        let covered = self.covered.clone();
        for scenario in &mut self.covered {
            let (monitor, n_states) = (scenario.monitor, scenario.n_states);
            *scenario = ScenarioCoverage { monitor, n_states, ..ScenarioCoverage::default() };
        }
        covered
    }
}

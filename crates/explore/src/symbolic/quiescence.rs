//! Whether every run ends, on sets of configurations.
//!
//! An infinite run exists if and only if the greatest fixed point of preimages inside the reachable set is not empty: these are the
//! configurations from which steps can go on for ever. The sets on the way down are those from which at least n steps can
//! be made, so their number is the length of the longest run where the fixed point is empty. The reachable set has to be
//! finite; buffers that only grow are for explicit search, which knows loops that grow.

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use allways_base::Idx;
use allways_machine::{Executable, Simplify};
use allways_mdd::{Filter, Node};
use allways_run::{Cancel, Observer, Progress, StopReason, ViolationKind};

use super::engine::{Engine, Search, explored, on_large_stack};
use super::liveness::{Failure, lost};
use super::order;
use super::path::{self, Found, Goal, contains, start_set, state_vector, values_of};
use super::report::{Split, SymbolicFigures, SymbolicOptions};
use super::steps::{BROKEN, MemoSteps, STIMULUS_LABEL};
use crate::error::InternalError;
use crate::quiesce::kinds_of;
use crate::search::context::{Context, SearchEnd};
use crate::search::counterexample::{StepName, names};
use crate::search::expand::{CRASH, Move};
use crate::search::local::states::{LocalStateId, LocalStates};
use crate::search::lock;
use crate::search::options::{ProveOptions, SearchBounds};
use crate::search::stop::StickyCancel;
use crate::search::successors::Collect;

/// What came out.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub end: End,
    pub n_configurations: u64,
    pub depth: u64,
    /// Kinds of violations that runs end with.
    pub broken: Vec<ViolationKind>,
}

#[derive(Clone, Debug)]
pub(crate) enum End {
    /// No run that counts is infinite; with the number of steps of the longest one, where all runs count.
    Quiesces {
        longest: Option<u64>,
    },
    Lasso {
        stem: Vec<StepName>,
        lap: Vec<StepName>,
    },
    Stopped(StopReason),
}

impl Answer {
    fn stopped(reason: StopReason) -> Self {
        Answer { end: End::Stopped(reason), n_configurations: 0, depth: 0, broken: Vec::new() }
    }
}

/// Looks for an infinite run without steps of the stimuli.
pub(crate) fn infinite_run(
    exe: &Arc<Executable>,
    options: &ProveOptions,
    simplify: Simplify,
    is_stimulus: &[bool],
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<Answer, InternalError> {
    on_large_stack(|| run(exe, options, simplify, is_stimulus, observer, cancel)).unwrap_or_else(|| {
        let bytes = options.limits.memory_bytes.unwrap_or(0);
        Ok(Answer::stopped(StopReason::Memory { bytes }))
    })
}

fn run(
    exe: &Arc<Executable>,
    options: &ProveOptions,
    simplify: Simplify,
    is_stimulus: &[bool],
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<Answer, InternalError> {
    let stop = StickyCancel::new(cancel);
    let locals = Mutex::new(LocalStates::new(
        exe,
        options.limits,
        SearchBounds::default(),
        false,
        simplify,
        false,
        &stop,
    ));
    let cx = Context::plain(options, &locals, observer, &stop);
    let symbolic =
        SymbolicOptions { search: options.clone(), split: Split::Never, ..SymbolicOptions::default() };
    let (stopped, shows) = (RefCell::new(None), AtomicBool::new(false));
    let mut engine = Engine {
        cx,
        exe,
        options: &symbolic,
        shows: &shows,
        stopped: &stopped,
        starts: Vec::new(),
        explored: explored(SearchEnd::Exhausted),
        figures: SymbolicFigures::default(),
        checks_liveness: false,
    };
    let beginning = lock(&locals).begin();
    if let Some(reason) = beginning.unknown {
        return Ok(Answer::stopped(reason));
    }
    engine.starts = beginning.vectors;
    if engine.starts.is_empty() {
        let end = End::Quiesces { longest: Some(1) };
        let broken = lock(&locals).unfinished.into_iter().collect();
        return Ok(Answer { end, n_configurations: 1, depth: 1, broken });
    }
    let mut steps = MemoSteps::new(cx);
    steps.stops_at_violation = false;
    steps.is_stimulus = is_stimulus.to_vec();
    let starts: Vec<Vec<LocalStateId>> = engine.starts.iter().map(|(_, vector)| vector.clone()).collect();
    let walks = order::walk(cx, &mut steps.expander, &starts);
    let (mut reach, reached) = match engine.race(steps, &walks) {
        Ok(found) => found,
        Err(_) => return Ok(Answer::stopped(engine.stop_reason())),
    };
    let found =
        Descent { cx, counts_all: is_stimulus.is_empty() }.infinite(&mut reach, reached, &engine.starts);
    let mut answer = match found {
        Ok(answer) => answer,
        Err(Failure::Halt(halt)) => Answer::stopped(engine.reason_of(halt)),
        Err(Failure::Internal(error)) => return Err(error),
    };
    for &id in &reach.steps.faults {
        for kind in kinds_of(&mut lock(&locals), id) {
            if !answer.broken.contains(&kind) {
                answer.broken.push(kind);
            }
        }
    }
    // Also by a delivery, and in the first step.
    answer.broken.extend(lock(&locals).unfinished);
    if reach.steps.has_violation && answer.broken.is_empty() {
        answer.broken.push(ViolationKind::Assertion);
    }
    if let (End::Quiesces { .. }, Some(reason)) = (&answer.end, stop.first_reason().or(reach.steps.unknown()))
    {
        answer.end = End::Stopped(reason);
    }
    Ok(answer)
}

struct Descent<'a> {
    cx: Context<'a>,
    /// No step is a stimulus.
    counts_all: bool,
}

impl Descent<'_> {
    fn infinite(
        &self,
        reach: &mut Search<'_>,
        reached: Node,
        starts: &[(Vec<u32>, Vec<LocalStateId>)],
    ) -> Result<Answer, Failure> {
        self.cx.observer.progress(&Progress { phase: Some("infinite runs"), ..Progress::default() });
        reach.kept = vec![reached];
        let broken = reach.diagrams.some(reached, |_, value| value == BROKEN)?;
        let good = reach.diagrams.minus(reached, broken)?;
        reach.kept.push(good);
        let n_configurations = (reach.diagrams.count(good) + 1).as_u64().unwrap_or(u64::MAX);
        let answer = |end, depth| Answer { end, n_configurations, depth, broken: Vec::new() };
        let counts = |events: &allways_mdd::Events, event| events.label(event) != STIMULUS_LABEL;
        let backward = reach.backward_where(&Filter { event: &counts, reaction: &|_, _, _| true });
        // A step that breaks a property is a step.
        let (forever, n_steps) = reach.forever(&backward, reached, good)?;
        if forever.is_empty() {
            let longest = self.counts_all.then_some(n_steps + 1);
            return Ok(answer(End::Quiesces { longest }, n_steps + 1));
        }
        reach.kept.push(forever);
        let (stem, lap) = self.lasso(reach, forever, starts)?;
        let depth = stem.len() as u64;
        Ok(answer(End::Lasso { stem, lap }, depth))
    }

    /// A run to one of the configurations from which steps go on for ever, and on among these until one repeats.
    fn lasso(
        &self,
        reach: &mut Search<'_>,
        forever: Node,
        starts: &[(Vec<u32>, Vec<LocalStateId>)],
    ) -> Result<(Vec<StepName>, Vec<StepName>), Failure> {
        let start = start_set(reach, starts)?;
        let goal = Goal::Set(forever);
        let found = path::find(reach, start, goal, false)?;
        let Some(Found { vectors: mut values, goal }) = found else { return Err(lost().into()) };
        let Some(mut run) = path::moves(reach, &values, goal, starts) else { return Err(lost().into()) };
        let home = loop {
            let Some(at) = values.last().cloned() else { return Err(lost().into()) };
            let (by, next) = self.step(reach, &at, forever).ok_or_else(lost)?;
            run.moves.push(by);
            if let Some(place) = values.iter().position(|known| *known == next) {
                break place;
            }
            values.push(next);
        };
        let mut stem = vec![StepName::first(run.answers.clone())];
        stem.extend(names(self.cx, &run.first, &run.moves[..home]));
        let home_vector = state_vector(reach, &values[home]);
        Ok((stem, names(self.cx, &home_vector, &run.moves[home..])))
    }

    /// The first step of a configuration that counts and stays in a set.
    fn step(&self, reach: &mut Search<'_>, at: &[u32], within: Node) -> Option<(Move, Vec<u32>)> {
        let vector = state_vector(reach, at);
        let mut sink = Collect::default();
        reach.steps.expander.expand(&vector, &mut sink);
        for place in 0..sink.moves.len() {
            let by = sink.moves[place];
            if by.delivered != CRASH && reach.steps.is_stimulus(by.slot.as_u32(), vector[by.slot.index()]) {
                continue;
            }
            let values = values_of(reach, sink.vectors.get(place));
            if contains(reach, within, &values) {
                return Some((by, values));
            }
        }
        None
    }
}

//! Makes a counterexample shorter, through the kernel.
//!
//! A candidate is a list of steps that need not fit: steps that cannot be made there are left out, answers
//! that are missing are zero. What the kernel makes of it is a real run again, and is taken when it breaks the same
//! property in the same place and is *smaller*: fewer steps, or as many with fewer switches between machines, or as
//! many of these with smaller answers. Passes, until none helps or the budget is used up:
//! 1. leave out circles: steps that lead back to a configuration where the run had been;
//! 2. leave out what did not lead to the end (see `causes`);
//! 3. leave out all steps of one machine or channel, or a crash, from some point on;
//! 4. leave out stretches of steps, from long ones to single steps (delta debugging, Zeller and Hildebrandt 2002);
//! 5. bring together the steps of a machine that others interrupt;
//! 6. answer data choices with zero;
//! 7. start afresh: short random runs with mostly small answers. Where the answers at the beginning decide how long the run has to be,
//!    no change of single steps finds a shorter one.
//!
//! The first two need one run each, so that they help with runs for which the budget allows only a few candidates.
//! The order of candidates is fixed and the budget counts steps of the kernel, so the result depends on nothing else.

mod causes;

use allways_machine::{DataPoint, Kernel, Oracle, Outcome, Recorder, Silent};
use allways_run::{Choice, Schedule, Violation, ViolationKind};

use rustc_hash::FxHashMap;

use crate::liveness::key::RunKey;
use crate::testing::rng::{Rng, derive};
use causes::Party;

/// The same kind of violation at the same construct or of the same monitor.
pub(crate) fn same_place(a: &Violation, b: &Violation) -> bool {
    a.kind == b.kind && a.span == b.span && a.monitor == b.monitor
}

/// A step with the answers to its data choices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    /// What moves.
    choice: Choice,
    answers: Vec<u32>,
}

/// Splits a schedule into steps.
pub(crate) fn steps_of(choices: &[Choice]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for &choice in choices {
        match choice {
            Choice::Data(answer) => {
                if let Some(step) = steps.last_mut() {
                    step.answers.push(answer);
                }
            }
            Choice::Machine(_) | Choice::Deliver { .. } | Choice::Crash(_) => {
                steps.push(Step { choice, answers: Vec::new() });
            }
        }
    }
    steps
}

/// Random runs in search of a shorter one, and the steps that they may make.
const FRESH_RUNS: u64 = 4_000;
const FRESH_STEPS: u64 = 100_000;

struct Given<'a> {
    answers: &'a [u32],
    at: usize,
}

impl Oracle for Given<'_> {
    fn answer(&mut self, point: DataPoint) -> u32 {
        let answer = self.answers.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        answer.min(point.n_answers - 1)
    }
}

/// Resets the kernel and makes the steps that can be made.
pub(crate) fn follow<R: Recorder>(kernel: &mut Kernel, steps: &[Step], recorder: &mut R) {
    kernel.reset();
    for step in steps {
        if !kernel.is_running() {
            return;
        }
        step.take(kernel, recorder);
    }
}

impl Step {
    /// Makes the step if it can be made.
    pub fn take<R: Recorder>(&self, kernel: &mut Kernel, recorder: &mut R) {
        let mut oracle = Given { answers: &self.answers, at: 0 };
        // That it cannot is no error: candidates need not fit.
        let _ = kernel.take(self.choice, &mut oracle, recorder);
    }

    fn mover(&self) -> Choice {
        self.choice.mover()
    }
}

/// Shrinks a schedule that ends in a violation which the kernel reports.
pub(crate) fn shrink(
    kernel: &mut Kernel,
    schedule: &Schedule,
    violation: &Violation,
    max_steps: u64,
    is_cancelled: &dyn Fn() -> bool,
) -> Schedule {
    let wants_end = matches!(violation.kind, ViolationKind::Deadlock | ViolationKind::HotAtEnd);
    let limit = schedule.len();
    // A long way needs more candidates than a short one, and each costs more.
    let max_steps = max_steps.saturating_mul(1 + limit as u64 / 20_000);
    // What comes to no end on the answers that are missing is no shorter run.
    kernel.bound_choices(limit as u64);
    let mut test = |kernel: &mut Kernel, candidate: &[Step]| {
        follow(kernel, candidate, &mut Silent);
        // These show only in terminal configurations: let the rest run out.
        while wants_end && kernel.is_running() && kernel.schedule().len() < limit {
            let Some(choice) = kernel.nth_enabled(0) else { break };
            let mut zeros = Given { answers: &[], at: 0 };
            if kernel.take(choice, &mut zeros, &mut Silent).is_err() {
                break;
            }
        }
        let cost = kernel.n_steps();
        let breaks = matches!(kernel.outcome(), Outcome::Violated(found) if same_place(found, violation));
        (breaks.then(|| steps_of(&kernel.schedule().choices)), cost)
    };
    let best = steps_of(&schedule.choices);
    let mut shrinker = Shrinker { kernel, best, left: max_steps, test: &mut test, is_cancelled };
    shrinker.run();
    while shrinker.afresh() {
        shrinker.run();
    }
    schedule_of(&shrinker.best)
}

pub(crate) fn schedule_of(steps: &[Step]) -> Schedule {
    steps
        .iter()
        .flat_map(|step| std::iter::once(step.choice).chain(step.answers.iter().map(|&n| Choice::Data(n))))
        .collect()
}

/// Runs a candidate: the run that it became, if it is as wanted, and what it cost in steps.
pub(crate) type Test<'a> = dyn FnMut(&mut Kernel<'_>, &[Step]) -> (Option<Vec<Step>>, u64) + 'a;

pub(crate) struct Shrinker<'a, 'c> {
    pub kernel: &'a mut Kernel<'c>,
    pub best: Vec<Step>,
    /// Steps that may still be made.
    pub left: u64,
    pub test: &'a mut Test<'a>,
    pub is_cancelled: &'a dyn Fn() -> bool,
}

/// What is smaller comes first.
fn size(steps: &[Step]) -> (usize, usize, u64) {
    let n_switches = steps.windows(2).filter(|pair| pair[0].mover() != pair[1].mover()).count();
    let answers = steps.iter().flat_map(|step| &step.answers).map(|&answer| answer as u64).sum();
    (steps.len(), n_switches, answers)
}

impl Shrinker<'_, '_> {
    pub fn run(&mut self) {
        loop {
            let before = size(&self.best);
            let passes = [
                Self::without_circles,
                Self::causes_only,
                Self::without_machines,
                Self::without_stretches,
                Self::together,
                Self::smaller_answers,
            ];
            for pass in passes {
                if self.left == 0 || (self.is_cancelled)() {
                    return;
                }
                pass(self);
            }
            if size(&self.best) >= before {
                return;
            }
        }
    }

    /// Looks for a shorter run that has nothing to do with the best one.
    fn afresh(&mut self) -> bool {
        let stop_at = self.left.saturating_sub(FRESH_STEPS);
        for walk in 0..FRESH_RUNS {
            if self.left <= stop_at || (self.is_cancelled)() {
                return false;
            }
            let mut rng = Rng::new(derive(0, walk));
            let candidate = self.random_run(&mut rng);
            self.left = self.left.saturating_sub(self.kernel.n_steps().max(1));
            if matches!(self.kernel.outcome(), Outcome::Violated(_)) && self.attempt(&candidate) {
                return true;
            }
        }
        false
    }

    /// A run of fewer steps than the best one.
    fn random_run(&mut self, rng: &mut Rng) -> Vec<Step> {
        self.kernel.reset();
        let mut last: Option<Choice> = None;
        for _ in 1..self.best.len() {
            let n = self.kernel.n_enabled();
            if !self.kernel.is_running() || n == 0 {
                break;
            }
            // A machine that goes on makes no switch.
            let again = last.filter(|_| rng.below(2) == 0);
            let again = again.and_then(|last| self.kernel.choices().find(|choice| *choice == last));
            let Some(choice) = again.or_else(|| self.kernel.nth_enabled(rng.below(n as u64) as usize)) else {
                break;
            };
            let mut oracle = |point: DataPoint| match rng.below(4) {
                0 | 1 => (rng.next().trailing_zeros()).min(point.n_answers - 1),
                2 => point.n_answers - 1 - (rng.next().trailing_zeros()).min(point.n_answers - 1),
                _ => rng.below(u64::from(point.n_answers)) as u32,
            };
            if self.kernel.take(choice, &mut oracle, &mut Silent).is_err() {
                break;
            }
            last = Some(choice);
        }
        steps_of(&self.kernel.schedule().choices)
    }

    /// Takes the candidate if it is smaller and breaks the same.
    fn attempt(&mut self, candidate: &[Step]) -> bool {
        if self.left == 0 || (self.is_cancelled)() {
            self.left = 0;
            return false;
        }
        let (run, cost) = (self.test)(self.kernel, candidate);
        self.left = self.left.saturating_sub(cost.max(1));
        match run {
            Some(run) if size(&run) < size(&self.best) => {
                self.best = run;
                true
            }
            _ => false,
        }
    }

    fn without_circles(&mut self) {
        self.kernel.reset();
        let was_transient = self.kernel.set_transient(false);
        let mut key = RunKey::default();
        // Two configurations that share a hash are two for the test, too.
        let mut keys = vec![key.after(self.kernel, self.kernel.configuration().roster.iter())];
        for step in &self.best {
            let changed = causes::take(self.kernel, step);
            if matches!(self.kernel.outcome(), Outcome::Unknown(_)) {
                self.kernel.set_transient(was_transient);
                return;
            }
            let touched = changed.into_iter().filter_map(|party| match party {
                Party::Machine(machine) => Some(machine),
                Party::Monitor(_) | Party::Channel { .. } => None,
            });
            keys.push(key.after(self.kernel, touched));
        }
        self.kernel.set_transient(was_transient);
        let last_at: FxHashMap<u64, usize> = keys.iter().enumerate().map(|(at, &key)| (key, at)).collect();
        let mut candidate = Vec::new();
        let mut at = last_at[&keys[0]];
        while at < self.best.len() {
            candidate.push(self.best[at].clone());
            at = last_at[&keys[at + 1]];
        }
        if candidate.len() < self.best.len() {
            self.attempt(&candidate);
        }
    }

    fn causes_only(&mut self) {
        let candidate = causes::causes(self.kernel, &self.best);
        if candidate.len() < self.best.len() {
            self.attempt(&candidate);
        }
    }

    fn without_machines(&mut self) {
        let mut machines: Vec<Choice> = Vec::new();
        for step in &self.best {
            if !machines.contains(&step.mover()) {
                machines.push(step.mover());
            }
        }
        // Those that came last are the least likely to matter.
        for machine in machines.into_iter().rev() {
            if self.left == 0 {
                return;
            }
            let places: Vec<usize> =
                (0..self.best.len()).filter(|&at| self.best[at].mover() == machine).collect();
            for from in [0, places.len() / 2, places.len() * 3 / 4] {
                let Some(&from) = places.get(from) else { continue };
                let candidate: Vec<Step> = self
                    .best
                    .iter()
                    .enumerate()
                    .filter(|(at, step)| *at < from || step.mover() != machine)
                    .map(|(_, step)| step.clone())
                    .collect();
                if self.attempt(&candidate) {
                    break;
                }
            }
        }
    }

    fn without_stretches(&mut self) {
        let mut length = (self.best.len() / 2).max(1);
        loop {
            // From the end: late steps that do not matter are the most common.
            let mut end = self.best.len();
            while end > 0 && self.left > 0 {
                let start = end.saturating_sub(length);
                let candidate = [&self.best[..start], &self.best[end..]].concat();
                self.attempt(&candidate);
                end = start.min(self.best.len());
            }
            if length == 1 || self.left == 0 {
                return;
            }
            length /= 2;
        }
    }

    fn together(&mut self) {
        let mut at = 1;
        while at < self.best.len() && self.left > 0 {
            let machine = self.best[at - 1].mover();
            if self.best[at].mover() == machine {
                at += 1;
                continue;
            }
            // The next stretch of the same machine, if it comes again: bring it here.
            let again = (at..self.best.len()).find(|&place| self.best[place].mover() == machine);
            if let Some(again) = again {
                let n = self.best[again..].iter().take_while(|step| step.mover() == machine).count();
                let mut candidate = self.best.clone();
                candidate[at..again + n].rotate_right(n);
                self.attempt(&candidate);
            }
            at += 1;
        }
    }

    fn smaller_answers(&mut self) {
        let mut at = 0;
        while at < self.best.len() && self.left > 0 {
            for which in 0..self.best[at].answers.len() {
                let Some(&answer) = self.best.get(at).and_then(|step| step.answers.get(which)) else { break };
                for smaller in [0, answer / 2] {
                    if smaller < answer {
                        let mut candidate = self.best.clone();
                        candidate[at].answers[which] = smaller;
                        if self.attempt(&candidate) {
                            break;
                        }
                    }
                }
            }
            at += 1;
        }
    }
}

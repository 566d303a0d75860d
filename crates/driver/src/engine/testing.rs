//! Testing as an engine: it finds violations and proves nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use allways_explore::{CheckOptions, InternalError, LivenessOptions, TemperatureRule};
use allways_run::{Either, Limits, Observer, Progress, StopReason};

use super::{Answer, Effort, Engine, Figures, Means, Question};

/// As users name it.
pub const NAME: &str = "testing";

/// Schedules of a brief run and their length, so that endless programs are not run for long.
const BRIEF_SCHEDULES: u64 = 500;
const BRIEF_LENGTH: u64 = 2_000;
/// Steps of all of them, after which no further schedule begins: some hundredths of a second. Testing reports its progress
/// about that often.
const BRIEF_STEPS: u64 = 1 << 16;
/// Where a step is slow, as with values that grow and grow, a brief run ends by the clock.
const BRIEF_TIME: Duration = Duration::from_millis(300);

/// Runs schedules until one of them is violated.
pub struct Testing(pub CheckOptions);

impl Engine for Testing {
    fn name(&self) -> &'static str {
        NAME
    }

    fn proves(&self) -> bool {
        false
    }

    fn refuses(&self, question: &Question) -> Option<String> {
        // A violation beyond a bound is one of the program, but was not asked for.
        question
            .is_bounded()
            .then(|| "testing within bounds on configurations".to_owned())
            .or_else(|| question.refuses_invariants("testing"))
    }

    fn run(&self, question: &Question, means: Means<'_>) -> Result<Answer, InternalError> {
        let mut options = CheckOptions {
            n_schedules: None,
            n_threads: means.budget.n_threads,
            // Only certain violations are an answer here.
            liveness: LivenessOptions {
                temperature: TemperatureRule::Off,
                fairness: question.fairness.unwrap_or_default(),
                configurations: match question.fairness {
                    Some(_) => self.0.liveness.configurations,
                    None => 0,
                },
            },
            limits: Limits { memory_bytes: None, ..question.limits },
            ..self.0.clone()
        };
        if means.budget.effort == Effort::Whole {
            // Not the schedules of the brief run again.
            options.seed = options.seed.wrapping_add(1);
            return test(question, &options, means);
        }
        options.n_schedules = Some(BRIEF_SCHEDULES);
        options.fair_steps = Some(BRIEF_LENGTH);
        options.unfair_steps = Some(BRIEF_LENGTH);
        // One thread, so that the number of steps so far does not depend on others.
        options.n_threads = 1;
        let steps = StepCount::default();
        let start = Instant::now();
        let is_over = || {
            let is_late = || start.elapsed() >= BRIEF_TIME;
            (steps.0.load(Ordering::Relaxed) >= BRIEF_STEPS || is_late())
                .then_some(StopReason::Time(BRIEF_TIME))
        };
        let until = Either(means.cancel, is_over);
        test(question, &options, Means { observer: &steps, cancel: &until, ..means })
    }
}

fn test(question: &Question, options: &CheckOptions, means: Means<'_>) -> Result<Answer, InternalError> {
    let found = allways_explore::check(&question.exe, options, means.observer, means.cancel)?;
    Ok(Answer {
        stopped: found.stopped,
        figures: Figures { testing: Some(found.statistics), ..Figures::default() },
        coverage: Some(found.coverage),
        ..Answer::new(NAME, found.verdict)
    })
}

/// Counts steps.
#[derive(Default)]
struct StepCount(AtomicU64);

impl Observer for StepCount {
    fn progress(&self, progress: &Progress) {
        self.0.fetch_max(progress.n_steps, Ordering::Relaxed);
    }
}

//! Exhaustive search as an engine.

use allways_explore::InternalError;
use allways_explore::search::{self, ProveOptions};

use super::{Answer, Engine, Figures, Means, Question, Remarks};

/// As users name it.
pub const NAME: &str = "explicit";

/// Visits every configuration.
pub struct Explicit(pub ProveOptions);

impl Engine for Explicit {
    fn name(&self) -> &'static str {
        NAME
    }

    fn refuses(&self, question: &Question) -> Option<String> {
        question.refuses_invariants("exhaustive search")
    }

    fn run(&self, question: &Question, means: Means<'_>) -> Result<Answer, InternalError> {
        let mut options = ProveOptions {
            bounds: question.bounds,
            max_choices: question.max_choices,
            fairness: question.fairness,
            n_threads: means.budget.n_threads,
            limits: question.limits,
            ..self.0.clone()
        };
        options.limits.memory_bytes = means.budget.memory_bytes;
        let report = search::prove(&question.exe, &options, means.observer, means.cancel)?;
        Ok(of_report(NAME, report))
    }
}

/// What searches over configurations hand back.
pub(super) fn of_report(engine: &'static str, report: search::ProveReport) -> Answer {
    Answer {
        stopped: report.stopped,
        figures: Figures { search: Some(report.statistics), ..Figures::default() },
        coverage: Some(report.coverage),
        dead_handlers: report.dead_handlers,
        remarks: Remarks { search: report.remarks, ..Remarks::default() },
        ..Answer::new(engine, report.verdict)
    }
}

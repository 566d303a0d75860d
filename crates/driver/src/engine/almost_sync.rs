//! Almost-synchronous search as an engine.

use allways_explore::InternalError;
use allways_explore::almost_sync::{self, AlmostSyncOptions};
use allways_run::Limits;

use super::{Answer, Engine, Means, Question, Unchecked, explicit};

/// As users name it.
pub const NAME: &str = "asi";

/// Visits every local state, with inboxes of any length.
pub struct AlmostSync(pub AlmostSyncOptions);

impl Engine for AlmostSync {
    fn name(&self) -> &'static str {
        NAME
    }

    fn refuses(&self, question: &Question) -> Option<String> {
        if !question.exe.network.is_default() {
            let what = "the almost-synchronous engine with faults or a network other than `inbox`; use `--engine explicit`";
            return Some(what.to_owned());
        }
        question
            .is_bounded()
            .then(|| "bounds with the almost-synchronous engine, which needs none: leave them out".to_owned())
            .or_else(|| question.refuses_invariants("almost-synchronous exploration"))
    }

    fn leaves_unchecked(&self, question: &Question) -> Unchecked {
        Unchecked { deadlock: question.can_deadlock(), liveness: question.has_hot_state() }
    }

    fn run(&self, question: &Question, means: Means<'_>) -> Result<Answer, InternalError> {
        let limits = Limits { memory_bytes: means.budget.memory_bytes, ..question.limits };
        let options = AlmostSyncOptions { limits, ..self.0.clone() };
        let found = almost_sync::prove(&question.exe, &options, means.observer, means.cancel)?;
        let mut answer = explicit::of_report(NAME, found.report);
        answer.unchecked = self.leaves_unchecked(question);
        answer.remarks.flood = found.flood;
        answer.certificate = found.certificate;
        Ok(answer)
    }
}

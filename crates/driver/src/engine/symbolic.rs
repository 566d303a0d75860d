//! Symbolic exploration as an engine.

use allways_explore::search::ProveOptions;
use allways_explore::symbolic::{self, SymbolicOptions};
use allways_explore::{Cancel, InternalError};
use allways_run::Observer;

use super::{Answer, Budget, Engine, Question, explicit};

/// As users name it.
pub const NAME: &str = "symbolic";

/// Reaches every configuration, as sets.
pub struct Symbolic(pub SymbolicOptions);

impl Symbolic {
    fn search(&self, question: &Question) -> ProveOptions {
        ProveOptions {
            bounds: question.bounds,
            max_choices: question.max_choices,
            fairness: question.fairness,
            limits: question.limits,
            ..self.0.search.clone()
        }
    }
}

impl Engine for Symbolic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn refuses(&self, question: &Question) -> Option<String> {
        symbolic::unsupported(&question.exe, &self.search(question))
    }

    fn run(
        &self,
        question: &Question,
        budget: Budget,
        observer: &dyn Observer,
        cancel: &dyn Cancel,
    ) -> Result<Answer, InternalError> {
        let mut options = SymbolicOptions { search: self.search(question), ..self.0.clone() };
        options.search.limits.memory_bytes = budget.memory_bytes;
        let found = symbolic::prove(&question.exe, &options, observer, cancel)?;
        let mut answer = explicit::of_report(NAME, found.report);
        answer.figures.symbolic = Some(found.figures);
        Ok(answer)
    }
}

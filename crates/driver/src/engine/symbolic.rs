//! Symbolic exploration as an engine.

use allways_explore::InternalError;
use allways_explore::search::ProveOptions;
use allways_explore::symbolic::paper::{self, PaperOptions};
use allways_explore::symbolic::{self, SymbolicOptions};
use allways_run::Verdict;

use super::{Answer, Engine, Figure, Means, Question, Unchecked, explicit};

/// As users name it.
pub const NAME: &str = "symbolic";

/// Which algorithm symbolic exploration uses.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Algorithm {
    /// Sets of configurations in decision diagrams.
    #[default]
    Sets,
    /// As published: one frontier of value summaries.
    Paper,
}

/// Reaches every configuration, as sets.
pub struct Symbolic(pub SymbolicOptions, pub Algorithm);

impl Symbolic {
    /// What a verdict with filters is worth.
    fn notes(&self, comparison: Option<String>, verdict: &Verdict) -> Vec<String> {
        let rests = self.0.filters.has_claims() && matches!(verdict, Verdict::Holds(_));
        let claims = || "the proof relies on the claims under `[filters]` in `allways.toml`; `--check-filters` checks them against a search without filters";
        let note = comparison.or_else(|| rests.then(|| claims().to_owned()));
        note.into_iter().collect()
    }

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
        match self.1 {
            Algorithm::Sets => symbolic::unsupported(&question.exe, &self.search(question), &self.0.filters),
            Algorithm::Paper => paper::unsupported(&question.exe, &self.search(question), &self.0.filters),
        }
    }

    fn leaves_unchecked(&self, question: &Question) -> Unchecked {
        let liveness = self.1 == Algorithm::Paper && question.fairness.is_some() && question.has_hot_state();
        Unchecked { deadlock: false, liveness }
    }

    fn run(&self, question: &Question, means: Means<'_>) -> Result<Answer, InternalError> {
        let mut options = SymbolicOptions { search: self.search(question), ..self.0.clone() };
        options.search.limits.memory_bytes = means.budget.memory_bytes;
        if self.1 == Algorithm::Paper {
            let options = PaperOptions {
                search: options.search,
                filters: options.filters,
                checks_filters: options.checks_filters,
                ..PaperOptions::default()
            };
            let found = paper::prove(&question.exe, &options, means.observer, means.cancel)?;
            let mut answer = Answer::new(NAME, found.verdict);
            answer.unchecked = self.leaves_unchecked(question);
            answer.stopped = found.stopped;
            answer.figures.more = paper_figures(&found.figures);
            answer.remarks.notes = self.notes(found.comparison, &answer.verdict);
            return Ok(answer);
        }
        let found = symbolic::prove(&question.exe, &options, means.observer, means.cancel)?;
        let mut answer = explicit::of_report(NAME, found.report);
        answer.remarks.notes = self.notes(found.figures.comparison.clone(), &answer.verdict);
        answer.figures.symbolic = Some(found.figures);
        Ok(answer)
    }
}

fn paper_figures(figures: &paper::PaperFigures) -> Vec<Figure> {
    let figure = |name, unit, n| Figure { name, unit, n };
    vec![
        figure("steps", "steps", figures.n_steps),
        figure("guardVariables", "guard variables", figures.n_variables),
        figure("handlerRuns", "lifted handler runs", figures.n_runs),
        figure("liftedInstructions", "lifted instructions", figures.n_ops),
        figure("pointwise", "values run one by one", figures.n_pointwise),
        figure("summaries", "value summaries", figures.n_summaries),
        figure("peakNodes", "guard nodes at most", figures.peak_nodes),
        figure("machines", "machines", figures.n_machines),
        figure("prunedSteps", "steps left out by filters", figures.n_pruned),
    ]
}

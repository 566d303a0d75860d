//! Proofs for types without bound on their values: engines run the abstract program, and what breaks there is looked for in
//! instances with a few values.
//!
//! The abstract program ([`allways_p::abstraction`]) has every run of the program. So a proof of it is a proof for any values; but for liveness,
//! which more runs may hide. A violation in it may be one of the runs that the abstraction adds. It is reported only if an
//! instance of the program breaks within as many steps, by a run that the kernel replays; otherwise the verdict is unknown.

use std::sync::Arc;

use allways_explore::InternalError;
use allways_machine::Executable;
use allways_p::abstraction::{AbstractType, Problem, abstracted, instance};
use allways_p::hir::Program;
use allways_run::{NetworkOptions, StopReason, Verdict};
use serde::Deserialize;

use crate::engine::{self, Answer, Means, Question, Settings, Unchecked};

/// Values of each abstract type in the instances that are tried, one after the other.
const INSTANCES: [u32; 3] = [2, 3, 4];

/// An abstract type as `allways.toml` has it.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AbstractEntry {
    #[serde(rename = "type")]
    pub name: String,
    #[serde(default)]
    pub distinguished: Vec<String>,
    #[serde(default)]
    pub any: Vec<String>,
    #[serde(default)]
    pub except: Vec<String>,
}

impl From<&AbstractEntry> for AbstractType {
    fn from(entry: &AbstractEntry) -> Self {
        let AbstractEntry { name, distinguished, any, except } = entry.clone();
        AbstractType { name, distinguished, any, except }
    }
}

/// An answer about an abstract program.
pub struct Abstracted {
    /// The program that the answer is about: the abstract one, or an instance that breaks.
    pub exe: Arc<Executable>,
    pub answer: Answer,
    /// The abstract program and its violation, which no instance shows.
    pub spurious: Option<(Question, Answer)>,
}

/// Why a program has no abstract form, or could not be answered.
pub enum Failure {
    Problems(Vec<Problem>),
    /// Of the network options.
    Network(String),
    Internal(InternalError),
}

/// Asks about a test of the abstract program. The executable of `question` is not used.
///
/// # Errors
/// When the abstraction has no meaning for the program.
pub fn answer(
    program: &Program,
    test: usize,
    network: &NetworkOptions,
    types: &[AbstractEntry],
    engine: &str,
    question: &Question,
    settings: &Settings,
    means: Means<'_>,
) -> Result<Abstracted, Failure> {
    let types: Vec<AbstractType> = types.iter().map(AbstractType::from).collect();
    let executable = |program: &Program| {
        let exe = Executable::new(program, test).with_network(network);
        exe.map(Arc::new).map_err(|error| Failure::Network(error.to_string()))
    };
    let exe = executable(&abstracted(program, &types).map_err(Failure::Problems)?)?;
    let asks_liveness = question.fairness.is_some() && question.has_hot_state();
    let question = Question { exe: exe.clone(), fairness: None, ..question.clone() };
    let ask = |engine: &str, question: &Question| {
        engine::answer(engine, question, settings, means).map_err(Failure::Internal)
    };
    let mut found = ask(engine, &question)?;
    let names: Vec<&str> = types.iter().map(|ty| ty.name.as_str()).collect();
    let names = names.join(", ");
    let n_steps = match &found.verdict {
        Verdict::Holds(_) => {
            found.unchecked =
                Unchecked { liveness: found.unchecked.liveness || asks_liveness, ..found.unchecked };
            found.remarks.notes.push(format!("abstraction: the proof covers every value of {names}"));
            return Ok(Abstracted { exe, answer: found, spurious: None });
        }
        Verdict::Unknown(_) => return Ok(Abstracted { exe, answer: found, spurious: None }),
        Verdict::Violated(counterexample) => counterexample.schedule.n_steps() as u64,
    };
    for n_values in INSTANCES {
        let exe = executable(&instance(program, &types, n_values).map_err(Failure::Problems)?)?;
        let mut question = Question { exe: exe.clone(), ..question.clone() };
        question.bounds.depth = Some(question.bounds.depth.map_or(n_steps, |depth| depth.min(n_steps)));
        let mut answer = ask(engine::EXPLICIT, &question)?;
        match answer.verdict {
            Verdict::Violated(_) => {
                answer.remarks.notes.push(format!("this run uses {n_values} values of {names}"));
                return Ok(Abstracted { exe, answer, spurious: None });
            }
            // A limit was met: the abstract run is all there is.
            Verdict::Unknown(_) => break,
            Verdict::Holds(_) => {}
        }
    }
    let why = format!(
        "the abstraction of {names} is too coarse: the abstract program has a violation after {n_steps} steps, but no instance with 2 to {} values has one within as many steps; a finer abstraction or a search without `--abstract` may decide it",
        INSTANCES[INSTANCES.len() - 1]
    );
    let answer = Answer::new(found.engine, Verdict::Unknown(StopReason::Undecided { why }));
    Ok(Abstracted { exe, answer, spurious: Some((question, found)) })
}

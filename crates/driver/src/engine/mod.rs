//! The seam between questions and engines.
//!
//! A [`Question`] is one test, with what counts as a run of it. An [`Engine`] answers it under a [`Budget`], or refuses it
//! with a reason. An [`Answer`] is complete: verdict, what was not checked, figures, remarks. Engines do not know each
//! other; [`race`] runs several of them at once and knows nothing of any but this trait. [`ENGINES`] is the one list of
//! them: the command line, the race and the benchmarks read it. `docs/how-to/add-an-engine.md` shows how to add one.

mod almost_sync;
mod explicit;
mod pace;
pub mod race;
mod symbolic;
mod testing;

use std::sync::{Arc, Mutex};

use allways_explore::almost_sync::{AlmostSyncOptions, Flood};
use allways_explore::coverage::UnusedHandler;
use allways_explore::search::{self, ProveOptions, ProveStatistics, SearchBounds};
use allways_explore::symbolic::{SymbolicFigures, SymbolicOptions};
use allways_explore::{Cancel, CheckOptions, Coverage, Fairness, InternalError, Statistics};
use allways_machine::Executable;
use allways_p::hir::Temperature;
use allways_run::{Guarantee, Limits, Noted, Observer, StopReason, Verdict};

pub use almost_sync::{AlmostSync, NAME as ALMOST_SYNC};
pub use explicit::{Explicit, NAME as EXPLICIT};
pub use symbolic::{Algorithm, NAME as SYMBOLIC, Symbolic};
pub use testing::{NAME as TESTING, Testing};

/// The name that stands for a race of all engines.
pub const AUTO: &str = "auto";

/// An engine that users can name.
pub struct Entry {
    pub name: &'static str,
    /// In a few words, for `--help`.
    pub about: &'static str,
    /// Whether it can prove something. One that cannot takes part in races only.
    pub proves: bool,
    pub make: fn(&Settings) -> Box<dyn Engine>,
}

/// All engines. The first that accepts a question leads the race, and of equal answers that of the first counts.
pub const ENGINES: &[Entry] = &[
    Entry {
        name: EXPLICIT,
        about: "Visits every configuration, one by one",
        proves: true,
        make: |settings| Box::new(Explicit(settings.explicit.clone())),
    },
    Entry {
        name: ALMOST_SYNC,
        about: "Almost-synchronous: also inboxes without bound; does not check deadlock or liveness",
        proves: true,
        make: |settings| Box::new(AlmostSync(settings.almost_sync.clone())),
    },
    Entry {
        name: SYMBOLIC,
        about: "Visits every configuration, in sets kept as decision diagrams",
        proves: true,
        make: |settings| Box::new(Symbolic(settings.symbolic.clone(), settings.symbolic_algorithm)),
    },
    Entry {
        name: TESTING,
        about: "Schedules at random",
        proves: false,
        make: |settings| Box::new(Testing(settings.testing.clone())),
    },
];

/// How engines work, where there is a choice. Nothing here changes what is asked: that is the [`Question`].
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub explicit: ProveOptions,
    pub almost_sync: AlmostSyncOptions,
    pub symbolic: SymbolicOptions,
    pub symbolic_algorithm: Algorithm,
    pub testing: CheckOptions,
}

/// What is asked: one test, and which of its runs count.
#[derive(Clone, Debug)]
pub struct Question {
    pub exe: Arc<Executable>,
    /// Configurations beyond these bounds do not count.
    pub bounds: SearchBounds,
    /// So many answers to each `choose` of a number count.
    pub max_choices: Option<u32>,
    /// Which infinite runs count for liveness; `None` asks nothing about them.
    pub fairness: Option<Fairness>,
    /// Of one run: instructions, calls, machines. Memory and time of the search are in the [`Budget`] and the [`Cancel`].
    pub limits: Limits,
}

impl Question {
    /// All runs of a test.
    pub fn new(exe: Arc<Executable>) -> Self {
        Question {
            exe,
            bounds: SearchBounds::default(),
            max_choices: None,
            fairness: Some(Fairness::default()),
            limits: Limits::default(),
        }
    }

    pub fn is_bounded(&self) -> bool {
        self.bounds != SearchBounds::default() || self.max_choices.is_some()
    }

    /// Why an engine that does not look at invariants has no answer, if some are stated.
    fn refuses_invariants(&self, what: &str) -> Option<String> {
        (!self.exe.invariants.is_empty()).then(|| format!("invariants in {what}"))
    }

    /// Whether some monitor that is attached has a hot state.
    pub fn has_hot_state(&self) -> bool {
        let exe = &self.exe;
        let is_monitor = |machine| exe.monitors.iter().any(|monitor| monitor.machine == machine);
        exe.states.iter().any(|state| state.temperature == Temperature::Hot && is_monitor(state.machine))
    }

    /// Whether a machine can wait in `receive`, and so for ever.
    pub fn can_deadlock(&self) -> bool {
        !self.exe.receives.is_empty()
    }
}

/// What an engine works with: what it may use, where its progress goes, and the one stop signal.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    pub budget: Budget,
    pub observer: &'a dyn Observer,
    pub cancel: &'a dyn Cancel,
}

/// What an engine may use. Time is up to the [`Cancel`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// At least one.
    pub n_threads: usize,
    pub memory_bytes: Option<u64>,
    pub effort: Effort,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// A first try of a few hundredths of a second. The answer must depend on question and settings alone.
    Brief,
    /// As long as it takes.
    Whole,
}

/// Something that answers questions.
pub trait Engine: Send + Sync {
    /// As users name it.
    fn name(&self) -> &'static str;

    /// Whether it can prove something; otherwise it can find violations only, and does not end by itself.
    fn proves(&self) -> bool {
        true
    }

    /// Why it has no answer to a question, whatever the budget: one sentence for users.
    fn refuses(&self, _question: &Question) -> Option<String> {
        None
    }

    /// What its proofs leave out of a question.
    fn leaves_unchecked(&self, _question: &Question) -> Unchecked {
        Unchecked::default()
    }

    /// Works on a question that it does not refuse, and asks `means.cancel` at least every few milliseconds whether to stop.
    /// Progress goes to `means.observer`. A violation in the answer has been replayed by the kernel.
    ///
    /// # Errors
    /// When a violation was found that does not replay: a fault of Allways.
    fn run(&self, question: &Question, means: Means<'_>) -> Result<Answer, InternalError>;
}

/// What an engine found.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The engine's name.
    pub engine: &'static str,
    /// If it holds, with the guarantee.
    pub verdict: Verdict,
    /// What a guarantee leaves out, though it was asked.
    pub unchecked: Unchecked,
    /// Why the engine ended early, if it did.
    pub stopped: Option<StopReason>,
    pub figures: Figures,
    /// `None` if the engine does not keep it.
    pub coverage: Option<Coverage>,
    /// Handlers that no run reaches; known only when the engine saw everything.
    pub dead_handlers: Option<Vec<UnusedHandler>>,
    pub remarks: Remarks,
    /// Of a proof, for `allways certify`, if it was asked for.
    pub certificate: Option<String>,
}

/// Properties that an engine does not check.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Unchecked {
    pub deadlock: bool,
    pub liveness: bool,
}

impl Unchecked {
    pub fn is_empty(self) -> bool {
        self == Unchecked::default()
    }
}

/// Figures of the work done. Engines fill in what they have.
#[derive(Clone, Default, Debug)]
pub struct Figures {
    /// Of a search that keeps configurations.
    pub search: Option<ProveStatistics>,
    /// Of symbolic exploration.
    pub symbolic: Option<SymbolicFigures>,
    /// Of testing.
    pub testing: Option<Statistics>,
    /// Of any other engine.
    pub more: Vec<Figure>,
}

/// A figure with its name for scripts, in camel case, and its unit for people, which is a plural.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Figure {
    pub name: &'static str,
    pub unit: &'static str,
    pub n: u64,
}

/// What is worth saying beside the verdict.
#[derive(Clone, Default, Debug)]
pub struct Remarks {
    pub search: search::Remarks,
    /// An inbox that grew beyond measure.
    pub flood: Option<Flood>,
    /// Sentences of any other kind.
    pub notes: Vec<String>,
}

impl Answer {
    /// An answer that says only this.
    pub fn new(engine: &'static str, verdict: Verdict) -> Self {
        Answer {
            engine,
            verdict,
            unchecked: Unchecked::default(),
            stopped: None,
            figures: Figures::default(),
            coverage: None,
            dead_handlers: None,
            remarks: Remarks::default(),
            certificate: None,
        }
    }

    /// Whether no other engine can add anything: a violation, or a proof of all that was asked.
    pub fn is_final(&self, question: &Question) -> bool {
        match &self.verdict {
            Verdict::Violated(_) => true,
            Verdict::Unknown(_) | Verdict::Holds(Guarantee::Sampled { .. }) => false,
            Verdict::Holds(Guarantee::UpTo(_)) => question.is_bounded() && self.unchecked.is_empty(),
            Verdict::Holds(_) => self.unchecked.is_empty(),
        }
    }
}

/// The name of an engine that proves, or of the race, if this is one.
pub fn known(name: &str) -> Option<&'static str> {
    let engines = ENGINES.iter().filter(|entry| entry.proves).map(|entry| entry.name);
    std::iter::once(AUTO).chain(engines).find(|&known| known == name)
}

/// The best answer so far, for a caller that may not wait for the end.
pub type BestSoFar = Mutex<Option<Answer>>;

/// The answer to a question, by the engine of a name or by the race of all.
///
/// # Errors
/// When an engine found a violation that does not replay: a fault of Allways.
///
/// # Panics
/// When there is no engine of this name.
pub fn answer(
    name: &str,
    question: &Question,
    settings: &Settings,
    means: Means<'_>,
) -> Result<Answer, InternalError> {
    answer_step_by_step(name, question, settings, means, &BestSoFar::default())
}

/// [`answer`], where a race also shows what it has on its way.
///
/// # Errors
/// # Panics
/// As there.
pub fn answer_step_by_step(
    name: &str,
    question: &Question,
    settings: &Settings,
    means: Means<'_>,
    best: &BestSoFar,
) -> Result<Answer, InternalError> {
    if name == AUTO {
        let engines: Vec<Box<dyn Engine>> = ENGINES.iter().map(|entry| (entry.make)(settings)).collect();
        return race::race_step_by_step(&engines, question, means, best);
    }
    let entry = ENGINES.iter().find(|entry| entry.name == name).expect("names come from the list");
    let engine = (entry.make)(settings);
    match engine.refuses(question) {
        Some(what) => Ok(Answer::new(entry.name, Verdict::Unknown(StopReason::Unsupported { what }))),
        None => run(&*engine, question, means),
    }
}

/// Runs an engine. A violation that it could not replay because it was stopped meanwhile is no fault of Allways: the answer is
/// unknown.
fn run(engine: &dyn Engine, question: &Question, means: Means<'_>) -> Result<Answer, InternalError> {
    let noted = Noted::new(means.cancel);
    match (engine.run(question, Means { cancel: &noted, ..means }), noted.first()) {
        (Err(_), Some(reason)) => {
            let stopped = Some(reason.clone());
            Ok(Answer { stopped, ..Answer::new(engine.name(), Verdict::Unknown(reason)) })
        }
        (found, _) => found,
    }
}

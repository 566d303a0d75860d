//! The almost-synchronous exploration against the oracle.
//!
//! Compared are states of machines and monitors, one by one, and violations except those that are reported at the end of a run. What the
//! oracle reached must be reached, by every choice of destination sets, and under over-approximation too (there without the
//! order of inboxes). What an exact exploration reached is replayed on the kernel, place by place and violation by violation;
//! where the oracle ended, it must have reached that as well. Verdicts must fit: a proof has no violation of the
//! oracle against it, a violation is one of the oracle's if that ended; and the certificate of a proof is accepted.

use std::sync::Arc;

use allways_explore::Never;
use allways_explore::almost_sync::certify::certify;
use allways_explore::almost_sync::survey::{Survey, survey};
use allways_explore::almost_sync::{
    AlmostSyncOptions, AlmostSyncReport, DestinationChoice, FloodRule, Rules, prove,
};
use allways_machine::{Executable, Simplify};
use allways_run::{Guarantee, Limits, Quiet, Verdict, ViolationKind};

use crate::Loaded;
use crate::generate::{Profile, generate_any, generate_endless};
use crate::oracle::{self, OracleOptions};
use crate::search::Viewer;
use crate::view::{LocalSummary, Scene, Summary};

/// How one program compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    Agree(Agreement),
    Differ(String),
}

/// What a comparison without difference was worth.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Agreement {
    /// Configurations of the oracle, and whether these were all.
    pub n_oracle: usize,
    pub oracle_ended: bool,
    /// States of the exact explorations that ended: the default, with sleep sets, and as in the paper.
    pub n_states: [Option<u64>; 3],
    /// The over-approximated exploration said something.
    pub approximated: bool,
    pub n_violations: usize,
    /// Verdicts of proofs: exact, over-approximated, violated, unknown.
    pub verdicts: [u32; 4],
    /// Certificates that were accepted.
    pub n_certificates: u32,
}

/// Which programs seeds name.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Programs {
    /// Every third is an endless one.
    #[default]
    All,
    Endless,
    Finite,
}

impl Programs {
    fn is_endless(self, seed: u64) -> bool {
        match self {
            Programs::All => seed.is_multiple_of(3),
            Programs::Endless => true,
            Programs::Finite => false,
        }
    }

    pub fn program(self, seed: u64) -> (String, &'static Profile) {
        match self.is_endless(seed) {
            true => generate_endless(seed),
            false => generate_any(seed),
        }
    }

    /// The oracle for the program of a seed: endless ones are cut off where inboxes are long.
    pub fn oracle_options(self, seed: u64, max_configurations: usize) -> OracleOptions {
        let max_inbox = self.is_endless(seed).then_some(2 + (seed % 2) as usize);
        OracleOptions { max_configurations, max_inbox, ..OracleOptions::default() }
    }
}

pub fn limits() -> Limits {
    Limits { instructions: 20_000, call_depth: 500, ..Limits::default() }
}

/// What an exploration reached, in the words of the oracle.
pub fn local_summary(loaded: &Loaded, survey: &Survey) -> LocalSummary {
    let (exe, store) = (survey.kernel.executable(), survey.kernel.store());
    let viewer = Viewer { program: &loaded.program, exe, store };
    let locals = survey.locals.iter().filter_map(|(instance, local)| viewer.local_view(*instance, local));
    let monitors = survey.monitors.iter().enumerate();
    LocalSummary {
        locals: locals.collect(),
        monitors: monitors
            .flat_map(|(at, states)| states.iter().map(move |local| (at, local)))
            .map(|(at, local)| (at, viewer.monitor_view(local)))
            .collect(),
        violations: survey.violations.iter().map(|found| (found.kind, found.span)).collect(),
        is_unknown: survey.unknown.is_some(),
    }
}

/// Compares one test.
pub fn compare(loaded: &Loaded, test_idx: usize, options: OracleOptions, max_states: u64) -> Outcome {
    let reference = oracle::explore(&loaded.program, test_idx, options);
    let comparison = Comparison {
        loaded,
        exe: Arc::new(Executable::new(&loaded.program, test_idx)),
        expected: LocalSummary::of(&reference),
        reference: &reference,
        max_states,
    };
    match comparison.all() {
        Ok(agreement) => Outcome::Agree(agreement),
        Err(difference) => Outcome::Differ(difference),
    }
}

struct Comparison<'a> {
    loaded: &'a Loaded,
    exe: Arc<Executable>,
    reference: &'a Summary,
    expected: LocalSummary,
    max_states: u64,
}

impl Comparison<'_> {
    fn all(&self) -> Result<Agreement, String> {
        let mut agreement = Agreement {
            n_oracle: self.reference.n_configurations,
            oracle_ended: !self.reference.bound_hit,
            n_violations: self.expected.violations.len(),
            ..Agreement::default()
        };
        let explorations = [
            (DestinationChoice::LeastWaiting, false),
            (DestinationChoice::LeastWaiting, true),
            (DestinationChoice::Canonical, false),
        ];
        for (at, (choice, sleep)) in explorations.into_iter().enumerate() {
            let what = |what: String| format!("{choice:?}, sleep sets {sleep}: {what}");
            agreement.n_states[at] = self.exact(choice, sleep).map_err(what)?;
        }
        for bound in [1, 2] {
            let ended = self.approximate(bound).map_err(|what| format!("inboxes of {bound}: {what}"))?;
            agreement.approximated |= ended;
        }
        let (simplified, whole) = (AlmostSyncOptions::default().simplify, Simplify::default());
        let (waiting, canonical) = (DestinationChoice::LeastWaiting, DestinationChoice::Canonical);
        // The last is with sleep sets; the others are certified.
        let proofs = [
            (waiting, Rules::Lean, FloodRule::Auto, simplified, false),
            (waiting, Rules::Lean, FloodRule::Bound(1), simplified, false),
            (waiting, Rules::Lean, FloodRule::Auto, whole, false),
            (waiting, Rules::Paper, FloodRule::Bound(1), whole, false),
            (canonical, Rules::Paper, FloodRule::Auto, simplified, false),
            (canonical, Rules::Paper, FloodRule::Bound(2), simplified, true),
        ];
        for (choice, rules, flood, simplify, sleep) in proofs {
            let certificate = !sleep;
            let options =
                AlmostSyncOptions { choice, rules, flood, simplify, sleep, certificate, ..self.options() };
            let what = |what: String| format!("prove {choice:?} {rules:?} {flood:?} {simplify:?}: {what}");
            let report =
                prove(&self.exe, &options, &Quiet, &Never).map_err(|error| what(error.to_string()))?;
            agreement.verdicts[self.verdict(&report, flood).map_err(what)?] += 1;
            if let Some(certificate) = report.certificate {
                certify(&self.exe, &certificate, limits(), &Quiet, &Never)
                    .map_err(|why| what(format!("refused: {why}")))?;
                agreement.n_certificates += 1;
            }
        }
        Ok(agreement)
    }

    fn options(&self) -> AlmostSyncOptions {
        AlmostSyncOptions {
            flood: FloodRule::Off,
            max_states: Some(self.max_states),
            simplify: Simplify::default(),
            limits: limits(),
            ..AlmostSyncOptions::default()
        }
    }

    fn scene(&self) -> Scene<'_> {
        Scene { program: &self.loaded.program, sources: &self.loaded.sources }
    }

    /// An exact exploration, by its states. `None` if it does not end where the oracle does not, either.
    fn exact(&self, choice: DestinationChoice, sleep: bool) -> Result<Option<u64>, String> {
        // The canonical choice is the paper's, and so are the rules that go with it.
        let rules = match choice {
            DestinationChoice::LeastWaiting => Rules::Lean,
            DestinationChoice::Canonical => Rules::Paper,
        };
        let options = AlmostSyncOptions { choice, rules, sleep, ..self.options() };
        let found = match survey(&self.exe, &options) {
            Ok(Some(found)) => found,
            Ok(None) if self.reference.bound_hit => return Ok(None),
            Ok(None) => return Err("the exploration does not end".to_owned()),
            Err(error) => return Err(error.to_string()),
        };
        let reached = local_summary(self.loaded, &found);
        if let Some(missing) = self.expected.missing_from(&reached, &self.scene()) {
            return Err(format!("not reached: {missing}"));
        }
        if !self.reference.bound_hit
            && let Some(more) = reached.missing_from(&self.expected, &self.scene())
        {
            return Err(format!("reached, but not by the oracle: {more}"));
        }
        Ok(Some(found.n_states))
    }

    /// Over-approximation may reach more, never less. Whether it ended.
    fn approximate(&self, bound: u32) -> Result<bool, String> {
        let options = AlmostSyncOptions { flood: FloodRule::Bound(bound), ..self.options() };
        let found = match survey(&self.exe, &options) {
            Ok(Some(found)) if found.unknown.is_none() || self.expected.is_unknown => found,
            Ok(_) => return Ok(false),
            Err(error) => return Err(error.to_string()),
        };
        let mut reached = local_summary(self.loaded, &found);
        // Inboxes are not kept in order, so only what does not show them is compared; and violations need not replay.
        let mut wanted = self.expected.clone();
        for summary in [&mut reached, &mut wanted] {
            summary.locals = summary.locals.iter().map(|view| view.without_inbox()).collect();
        }
        if found.n_doubts > 0 {
            wanted.violations.clear();
        }
        match wanted.missing_from(&reached, &self.scene()) {
            Some(missing) => Err(format!("not reached: {missing}")),
            None => Ok(true),
        }
    }

    /// Whether the verdict can be true; its number in [`Agreement::verdicts`].
    fn verdict(&self, report: &AlmostSyncReport, flood: FloodRule) -> Result<usize, String> {
        match &report.report.verdict {
            Verdict::Holds(guarantee) => {
                if let Some((kind, _)) = self.expected.violations.first() {
                    return Err(format!("proved, but the oracle has a violation: {}", kind.as_str()));
                }
                if self.expected.is_unknown {
                    return Err("proved, but the oracle cannot tell".to_owned());
                }
                Ok(usize::from(*guarantee == Guarantee::LocalStates { is_approximate: true }))
            }
            Verdict::Violated(found) => {
                // A run that was tried may end in a deadlock, which is as true. Its place is one of several.
                let (kind, span) = (found.violation.kind, found.violation.span);
                let span = span.filter(|_| kind != ViolationKind::Deadlock);
                if !self.reference.bound_hit && !self.reference.violations.contains(&(kind, span)) {
                    return Err(format!("a violation that the oracle has not: {}", kind.as_str()));
                }
                Ok(2)
            }
            Verdict::Unknown(reason) => {
                let may_be = flood != FloodRule::Auto || self.reference.bound_hit || self.expected.is_unknown;
                if may_be { Ok(3) } else { Err(format!("unknown: {reason:?}")) }
            }
        }
    }
}

//! The network that a program runs over: from options to executables, and whether a violation is a matter of order.

use std::sync::Arc;

use allways_explore::search::{self, ProveOptions};
use allways_explore::{Cancel, CheckOptions};
use allways_machine::Executable;
use allways_p::hir::Program;
use allways_run::{
    Certainty, Counterexample, Guarantee, NetworkModel, NetworkOptions, Quiet, Verdict, ViolationKind,
};

use crate::args::NetworkArgs;
use crate::exit::ExitStatus;
use crate::printer;

impl NetworkArgs {
    pub fn is_given(&self) -> bool {
        self.network.is_some()
            || !(self.lossy.is_empty() && self.duplicating.is_empty() && self.crash.is_empty())
    }

    pub fn options(&self) -> NetworkOptions {
        NetworkOptions {
            model: self.network.map_or(NetworkModel::Inbox, Into::into),
            lossy: self.lossy.clone(),
            duplicating: self.duplicating.clone(),
            crash: self.crash.clone(),
        }
    }
}

/// One test over a network. An unknown name is reported and ends the command.
pub fn executable(
    program: &Program,
    test: usize,
    network: &NetworkOptions,
) -> Result<Arc<Executable>, ExitStatus> {
    Executable::new(program, test).with_network(network).map(Arc::new).map_err(|error| {
        printer::err(&format!("{error}\n"));
        ExitStatus::Rejected
    })
}

/// The same test over P's own network, with the same faults, if that is another one.
fn in_order(program: &Program, test: usize, network: &NetworkOptions) -> Option<Arc<Executable>> {
    if network.model == NetworkModel::Inbox {
        return None;
    }
    let ordered = NetworkOptions { model: NetworkModel::Inbox, ..network.clone() };
    Executable::new(program, test).with_network(&ordered).ok().map(Arc::new)
}

/// Schedules that are tried in order at least, and for each that was tried until something broke.
const N_IN_ORDER: u64 = 1_000;
const N_IN_ORDER_EACH: u64 = 4;

/// Whether testing finds nothing where messages stay in order. Says how many schedules were tried.
pub fn check_in_order(
    program: &Program,
    test: usize,
    network: &NetworkOptions,
    options: &CheckOptions,
    index: u64,
    cancel: &dyn Cancel,
) -> Option<u64> {
    let exe = in_order(program, test, network)?;
    let n_schedules = N_IN_ORDER.max(index.saturating_add(1).saturating_mul(N_IN_ORDER_EACH));
    let n_schedules = options.n_schedules.map_or(n_schedules, |n| n.min(n_schedules));
    let options = CheckOptions {
        n_schedules: Some(n_schedules),
        explore: false,
        shrink_steps: 0,
        peers: None,
        ..options.clone()
    };
    let report = allways_explore::check(&exe, &options, &Quiet, cancel).ok()?;
    let is_clean = matches!(report.verdict, Verdict::Holds(_)) && report.stopped.is_none();
    is_clean.then_some(report.statistics.n_schedules)
}

/// The words for it.
pub fn order_note(n_schedules: u64) -> String {
    format!(
        "the violation may depend on the order of messages: {n_schedules} schedules with `--network inbox` found none"
    )
}

/// Whether nothing breaks where messages stay in order, within as many steps as the counterexample has; what was found.
pub fn prove_in_order(
    program: &Program,
    test: usize,
    network: &NetworkOptions,
    options: &ProveOptions,
    counterexample: &Counterexample,
    cancel: &dyn Cancel,
) -> Option<String> {
    let exe = in_order(program, test, network)?;
    let mut options = ProveOptions { peers: None, checkpoint: None, ..options.clone() };
    let n_steps = counterexample.schedule.n_steps() as u64;
    options.bounds.depth = Some(options.bounds.depth.map_or(n_steps, |depth| depth.min(n_steps)));
    let kind = counterexample.violation.kind;
    let report = search::prove(&exe, &options, &Quiet, cancel).ok()?;
    let text = match report.verdict {
        Verdict::Holds(Guarantee::Exhaustive | Guarantee::Probable { .. }) => {
            "with `--network inbox` the test is proved".to_owned()
        }
        // A loop needs more steps than a bound may leave.
        Verdict::Holds(_) if matches!(kind, ViolationKind::Liveness(Certainty::Certain)) => return None,
        Verdict::Holds(_) => format!("with `--network inbox` there is none within {n_steps} steps"),
        Verdict::Violated(_) | Verdict::Unknown(_) => return None,
    };
    Some(format!("the violation depends on the order of messages: {text}"))
}

/// The network for reports; nothing about P's own.
pub fn report_of(network: &NetworkOptions) -> Option<allways_report::check::Network> {
    (!network.is_default()).then(|| allways_report::check::Network {
        model: network.model.as_str(),
        lossy: network.lossy.clone(),
        duplicating: network.duplicating.clone(),
        crash: network.crash.clone(),
    })
}

/// What stands behind a verdict.
pub fn words(network: &NetworkOptions) -> String {
    network.describe().map_or(String::new(), |words| format!(" ({words})"))
}

//! The same question on sets of configurations (`symbolic::quiescence`), with the lasso made by the kernel.

use std::sync::Arc;

use allways_machine::{Executable, Outcome, Simplify};
use allways_run::{Cancel, Observer, StopReason};

use super::certify::Runner;
use super::{QuiesceOptions, QuiesceReport, Quiescence, Search, unfinished};
use crate::error::InternalError;
use crate::search::options::ProveOptions;
use crate::symbolic::quiescence::{End, infinite_run};

pub(super) fn quiesce(
    exe: &Arc<Executable>,
    options: &QuiesceOptions,
    prove_options: &ProveOptions,
    simplify: Simplify,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<QuiesceReport, InternalError> {
    if options.is_fair {
        let what = "fair runs in symbolic exploration; explicit search decides them".to_owned();
        return Ok(QuiesceReport::unknown(StopReason::Unsupported { what }));
    }
    let answer = infinite_run(exe, prove_options, simplify, &options.is_stimulus, observer, cancel)?;
    let quiescence = match answer.end {
        End::Quiesces { longest } => match unfinished(&answer.broken) {
            Some(reason) => Quiescence::Unknown(reason),
            None => Quiescence::Quiesces { longest },
        },
        End::Stopped(reason) => Quiescence::Unknown(reason),
        End::Lasso { stem, lap } => {
            let runner = Runner::new(exe, options.limits, simplify, &stem)?;
            let found = Search { exe, options, simplify }.replayed(runner, &lap)?;
            match found {
                Some(found) => Quiescence::Diverges(Box::new(found)),
                None => return Err(InternalError::differs("a cycle that repeats", &Outcome::Running)),
            }
        }
    };
    Ok(QuiesceReport {
        quiescence,
        n_configurations: answer.n_configurations,
        n_transitions: None,
        depth: answer.depth,
        violation: answer.broken.first().copied(),
    })
}

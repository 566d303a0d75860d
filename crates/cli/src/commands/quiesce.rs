//! `allways quiesce`: whether every run ends, or messages cause messages for ever.

mod boogie;
mod p;

pub use p::{Asked, engine_named, in_full, report_of, run_test, write_run};

use crate::args::QuiesceArgs;
use crate::exit::ExitStatus;

pub fn quiesce(args: &QuiesceArgs) -> ExitStatus {
    if super::boogie::is_boogie(&args.input.paths) {
        return boogie::quiesce(&args.input.paths, args);
    }
    p::quiesce(args)
}

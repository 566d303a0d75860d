//! One file per command.

mod answers;
mod boogie;
mod certify;
mod check;
mod compile;
mod explain;
mod files;
mod foreign;
mod graph;
mod network;
mod prove;
mod quiesce;
mod reductions;
mod replay;
mod suite;

use crate::args::{Args, Command};
use crate::exit::ExitStatus;
use crate::printer;

pub fn run(args: Args) -> ExitStatus {
    match args.command {
        Command::Compile(args) => compile::compile(&args),
        Command::Tests(args) => compile::tests(&args),
        Command::Check(args) => check::check(&args),
        Command::Prove(args) => prove::prove(&args),
        Command::Quiesce(args) => quiesce::quiesce(&args),
        Command::Certify(args) => certify::certify(&args),
        Command::Replay(args) => replay::replay(&args),
        Command::Graph(args) => or_lost(graph::graph(&args)),
        Command::Sequentialize(args) => or_lost(boogie::sequentialize(&args)),
        Command::Explain(args) => explain::explain(&args),
    }
}

/// For commands whose answer is the text that they write: without it they have failed.
fn or_lost(status: ExitStatus) -> ExitStatus {
    if status == ExitStatus::Success && printer::has_lost_output() { ExitStatus::Rejected } else { status }
}

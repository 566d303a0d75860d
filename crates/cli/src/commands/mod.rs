//! One file per command.

mod boogie;
mod certify;
mod check;
mod compile;
mod explain;
mod files;
mod graph;
mod network;
mod prove;
mod reductions;
mod replay;
mod suite;

use crate::args::{Args, Command};
use crate::exit::ExitStatus;

pub fn run(args: Args) -> ExitStatus {
    match args.command {
        Command::Compile(args) => compile::compile(&args),
        Command::Tests(args) => compile::tests(&args),
        Command::Check(args) => check::check(&args),
        Command::Prove(args) => prove::prove(&args),
        Command::Certify(args) => certify::certify(&args),
        Command::Replay(args) => replay::replay(&args),
        Command::Graph(args) => graph::graph(&args),
        Command::Sequentialize(args) => boogie::sequentialize(&args),
        Command::Explain(args) => explain::explain(&args),
    }
}

//! One file per command.

mod answers;
mod boogie;
mod certify;
mod check;
mod cluster;
mod compile;
mod demo;
mod distribute;
mod explain;
mod explore;
mod files;
mod foreign;
mod graph;
mod load;
mod network;
mod new;
mod prove;
mod quiesce;
mod reductions;
mod replay;
mod results;
mod scenarios;
mod shell;
mod show;
mod suite;
mod tested;

use crate::args::{Args, Command, Format};
use crate::exit::ExitStatus;
use crate::{annotations, printer};

/// Runs a command. Started under the name `p`, the tools of P are served.
pub fn run(args: Args, is_called_p: bool) -> ExitStatus {
    let format = match args.command.format() {
        Format::Text if is_called_p => Format::P,
        format => format,
    };
    printer::configure(&args.show, format);
    let status = match args.command {
        Command::New(args) => new::new(&args),
        Command::Demo(args) => demo::demo(&args),
        Command::Compile(args) => compile::compile(&args),
        Command::Tests(args) => compile::tests(&args),
        Command::Check(args) => check::check(&args),
        Command::Prove(args) => prove::prove(&args),
        Command::Quiesce(args) => quiesce::quiesce(&args),
        Command::Certify(args) => certify::certify(&args),
        Command::Cluster(args) => cluster::cluster(&args),
        Command::Replay(args) => replay::replay(&args),
        Command::Explore(args) => explore::explore(&args),
        Command::Show(args) => or_lost(show::show(&args)),
        Command::Graph(args) => or_lost(graph::graph(&args)),
        Command::Sequentialize(args) => or_lost(boogie::sequentialize(&args)),
        Command::Explain(args) => explain::explain(&args),
        Command::Completions(args) => or_lost(shell::completions(&args)),
        Command::Man(args) => or_lost(shell::man(&args)),
        Command::MergeScenarioCoverage(args) => or_lost(scenarios::merge(&args)),
        Command::Version => version(),
    };
    annotations::write();
    status
}

fn version() -> ExitStatus {
    printer::out(&format!("allways {}\n", env!("CARGO_PKG_VERSION")));
    ExitStatus::Success
}

/// For commands whose answer is the text that they write: without it they have failed.
fn or_lost(status: ExitStatus) -> ExitStatus {
    if status == ExitStatus::Success && printer::has_lost_output() { ExitStatus::Rejected } else { status }
}

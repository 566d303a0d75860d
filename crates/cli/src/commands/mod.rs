//! One file per command.

mod compile;
mod explain;

use crate::args::{Args, Command};
use crate::exit::ExitStatus;

pub fn run(args: Args) -> ExitStatus {
    match args.command {
        Command::Compile(args) => compile::compile(&args),
        Command::Tests(args) => compile::tests(&args),
        Command::Explain(args) => explain::explain(&args),
    }
}

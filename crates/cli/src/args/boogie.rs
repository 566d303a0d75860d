//! Options for `.bpl` files.

use std::path::PathBuf;

use clap::ValueEnum;

use super::heading::BOOGIE;

#[derive(clap::Args)]
pub struct BoogieArgs {
    /// Which delay-bounded scheduler interleaves the tasks
    #[arg(long, value_enum, value_name = "NAME", default_value_t = SchedulerArg::Dfw, hide_short_help = true, help_heading = BOOGIE)]
    pub scheduler: SchedulerArg,

    /// Exactly this many delays (child-first: K + 1 rounds) [default: 0, 1, 2, ... in turn]
    #[arg(long, value_name = "K", hide_short_help = true, help_heading = BOOGIE)]
    pub delays: Option<u32>,

    /// Exactly this many nested calls of one procedure, or iterations of a loop [default: more and more while there is time]
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = BOOGIE)]
    pub recursion: Option<u32>,

    /// Whether a failing assertion ends the run
    #[arg(long, value_enum, value_name = "MODE", default_value_t = AssertionsArg::Exit, hide_short_help = true, help_heading = BOOGIE)]
    pub assertions: AssertionsArg,

    /// Where tasks may be preempted [default: explicit; automatic for a program in Corral's spelling without yields]
    #[arg(long, value_enum, value_name = "WHERE", hide_short_help = true, help_heading = BOOGIE)]
    pub preemption: Option<PreemptionArg>,

    /// The procedure to start from [default: the one marked `{:entrypoint}`, or `main`]
    #[arg(long, value_name = "NAME", hide_short_help = true, help_heading = BOOGIE)]
    pub entry: Option<String>,

    /// Keep the dialogue with the solver as an SMT file
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = BOOGIE)]
    pub dump_smt: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchedulerArg {
    /// Depth first; waiting costs no delay
    Dfw,
    /// Depth first; waiting costs delays
    Df,
    /// Children before the rest of their parent
    ChildFirst,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AssertionsArg {
    /// The run ends where an assertion fails
    Exit,
    /// The run goes on to its end
    Continue,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PreemptionArg {
    /// At the written yields
    Explicit,
    /// Also before everything that touches a shared variable, waits or may block
    Automatic,
    /// Nowhere but at waits
    Serial,
}

#[derive(clap::Args)]
pub struct SequentializeArgs {
    /// The Boogie files; several are one program
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub boogie: BoogieArgs,

    /// Write the program whose failing runs are the infinite runs of this one
    #[arg(long, conflicts_with_all = ["scheduler", "delays", "assertions", "preemption"])]
    pub non_termination: bool,

    /// With --non-termination: only fair runs count
    #[arg(long, requires = "non_termination")]
    pub fair: bool,

    /// With --non-termination: the number of rounds in which tasks run
    #[arg(long, value_name = "K", default_value_t = 1, requires = "non_termination", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,

    /// Where the program goes [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

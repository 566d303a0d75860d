//! Options for work beyond one process: checkpoints, and processes that work together.

use std::path::PathBuf;

use super::heading;
use super::heading::CLUSTER;

#[derive(clap::Args)]
pub struct DistributeArgs {
    /// Keep layers of the search in this folder, and go on from there if it has some
    #[arg(long, value_name = "DIR", help_heading = heading::SEARCH)]
    pub checkpoint: Option<PathBuf>,

    /// Seconds between two layers that are kept; 0 keeps all
    #[arg(long, value_name = "N", default_value_t = 30, requires = "checkpoint", hide_short_help = true, help_heading = heading::SEARCH)]
    pub checkpoint_seconds: u64,

    /// Keep what does not fit into the memory limit in files in this folder: a proof is limited by disk then
    #[arg(long, value_name = "DIR", hide_short_help = true, help_heading = heading::SEARCH)]
    pub spill: Option<PathBuf>,

    #[command(flatten)]
    pub cluster: ClusterArgs,
}

#[derive(clap::Args)]
pub struct ClusterArgs {
    /// Work together with other processes: a file with the address of each on a line, or a folder in which processes of
    /// this machine find each other
    #[arg(long, value_name = "HOSTFILE", requires = "process", hide_short_help = true, help_heading = CLUSTER)]
    pub cluster: Option<PathBuf>,

    /// Which process of the cluster this is, from 0; process 0 has the report
    #[arg(long, value_name = "I", requires = "cluster", hide_short_help = true, help_heading = CLUSTER)]
    pub process: Option<usize>,

    /// How many processes there are, if --cluster is a folder
    #[arg(long, value_name = "N", requires = "cluster", hide_short_help = true, help_heading = CLUSTER)]
    pub processes: Option<usize>,

    /// A file with the secret that all processes share [default: the variable ALLWAYS_CLUSTER_SECRET]
    #[arg(long, value_name = "FILE", requires = "cluster", hide_short_help = true, help_heading = CLUSTER)]
    pub secret_file: Option<PathBuf>,

    /// Seconds to wait for the other processes to connect
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "cluster", hide_short_help = true, help_heading = CLUSTER)]
    pub connect_seconds: u64,

    /// Seconds without a sign of life after which another process counts as lost
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..), requires = "cluster", hide_short_help = true, help_heading = CLUSTER)]
    pub silence_seconds: u64,
}

#[derive(clap::Args)]
pub struct ClusterCommandArgs {
    #[command(subcommand)]
    pub command: ClusterCommand,
}

#[derive(clap::Subcommand)]
pub enum ClusterCommand {
    /// Run a command as several processes of this machine, and start them again when one is lost
    Up(UpArgs),
}

#[derive(clap::Args)]
pub struct UpArgs {
    /// How many processes
    #[arg(short = 'n', long, value_name = "N", value_parser = super::at_least_one)]
    pub processes: usize,

    /// How often to start again: `prove` from the last layer that is complete, `check` from the beginning
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub restarts: u32,

    /// The command and its options, such as `prove -tc tcThree`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<std::ffi::OsString>,
}

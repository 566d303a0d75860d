//! What is read, which tests of it, and what stands between its machines.

use std::path::{Path, PathBuf};

use allways_run::NetworkModel;
use clap::ValueEnum;

use super::heading;

#[derive(clap::Args)]
pub struct InputArgs {
    /// A folder, a `.pproj` file or `.p` files; the current folder if nothing is given
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// The project file [-pp]
    #[arg(long = "pproj", alias = "pp", value_name = "FILE", conflicts_with = "paths", hide_short_help = true, help_heading = heading::INPUT)]
    pub project: Option<PathBuf>,

    /// The source files [-pf]
    #[arg(long = "pfiles", alias = "pf", value_name = "FILE", num_args = 1.., conflicts_with = "paths", hide_short_help = true, help_heading = heading::INPUT)]
    pub files: Vec<PathBuf>,

    /// Bodies in P for functions that the program declares as foreign; `any` lets those without one return every value
    /// of their type, where these are few
    #[arg(long, value_name = "FILE|any", hide_short_help = true, help_heading = heading::INPUT)]
    pub foreign: Vec<PathBuf>,

    /// Reject what the compiler of P 3 rejects, also where programs of older versions would be understood
    #[arg(long, hide_short_help = true, help_heading = heading::INPUT)]
    pub strict: bool,
}

impl InputArgs {
    pub fn request(&self) -> allways_driver::Request {
        let mut paths: Vec<PathBuf> = self.paths.iter().map(|path| project_of_library(path)).collect();
        paths.extend(self.project.clone());
        paths.extend(self.files.iter().cloned());
        allways_driver::Request { paths, foreign: self.foreign.clone(), invariants: Vec::new() }
    }
}

/// Users of P name the library that was compiled, somewhere below the project: the project is meant.
fn project_of_library(path: &Path) -> PathBuf {
    if path.extension().is_none_or(|extension| extension != "dll") {
        return path.to_owned();
    }
    let has_project = |folder: &&Path| {
        let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let entries = std::fs::read_dir(shown).into_iter().flatten().filter_map(Result::ok);
        entries.map(|entry| entry.path()).any(|entry| entry.extension().is_some_and(|e| e == "pproj"))
    };
    path.ancestors().skip(1).find(has_project).map_or_else(
        || path.to_owned(),
        |folder| {
            if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() }
        },
    )
}

/// Which test cases.
#[derive(clap::Args)]
pub struct TestArgs {
    /// The test case of this name, or else all whose names begin with it [-tc] (repeatable)
    #[arg(long, value_name = "NAME", help_heading = heading::TESTS)]
    pub testcase: Vec<String>,
}

/// What may happen to messages and machines. All of it is part of the schedule, so that runs replay.
#[derive(clap::Args, Default)]
pub struct NetworkArgs {
    /// Which order messages keep on their way [default: inbox]
    #[arg(long, value_enum, value_name = "MODEL", hide_short_help = true, help_heading = heading::NETWORK)]
    pub network: Option<NetworkArg>,
    /// Messages of this event can be lost (repeatable)
    #[arg(long, value_name = "EVENT", hide_short_help = true, help_heading = heading::NETWORK)]
    pub lossy: Vec<String>,
    /// Messages of this event can arrive twice (repeatable)
    #[arg(long, value_name = "EVENT", hide_short_help = true, help_heading = heading::NETWORK)]
    pub duplicating: Vec<String>,
    /// Machines of this kind can crash at any time (repeatable)
    #[arg(long, value_name = "MACHINE", hide_short_help = true, help_heading = heading::NETWORK)]
    pub crash: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NetworkArg {
    /// One queue for each receiver, as in P
    Inbox,
    /// Messages to one receiver arrive in causal order
    Causal,
    /// Messages between two machines stay in order
    Fifo,
    /// No order at all
    Bag,
}

impl From<NetworkArg> for NetworkModel {
    fn from(arg: NetworkArg) -> NetworkModel {
        match arg {
            NetworkArg::Inbox => NetworkModel::Inbox,
            NetworkArg::Causal => NetworkModel::Causal,
            NetworkArg::Fifo => NetworkModel::Fifo,
            NetworkArg::Bag => NetworkModel::Bag,
        }
    }
}

//! Arguments: the one table from which parsing, `-h`, `--help`, completions, man pages and the reference page are made.
//!
//! `-h` shows what most people need; `--help` shows everything, under headings. `p` has options of several letters
//! with one dash (`-pp`, `-tc`), which are rewritten before the parser sees them, so that habits and scripts carry over.

mod boogie;
mod check;
mod cluster;
mod compat;
mod help;
mod input;
mod prove;
mod unknown;
mod view;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};

pub use boogie::{AssertionsArg, BoogieArgs, PreemptionArg, SchedulerArg, SequentializeArgs};
pub use check::{CheckArgs, DEFAULT_SCHEDULES, FairnessArg};
pub use cluster::{ClusterArgs, ClusterCommand, ClusterCommandArgs, DistributeArgs, UpArgs};
pub use compat::{is_called_p, normalize};
pub use input::{InputArgs, NetworkArgs, TestArgs};
pub use prove::{
    AlgorithmArg, DestinationArg, FilterArg, OrderArg, ProveArgs, ProveFairnessArg, SplitArg, StoreArg,
};
pub use view::{ExploreArgs, PageArgs, PageShape};

use crate::exit::ExitStatus;
use crate::printer;

/// Headings, given to each option by itself: a heading of a group would extend to the options after it.
pub mod heading {
    pub const TESTS: &str = "Test cases";
    pub const INPUT: &str = "Input";
    pub const LIMITS: &str = "Limits";
    pub const SEARCH: &str = "Search";
    pub const BOUNDS: &str = "Bounds (the verdict names them)";
    pub const STRATEGIES: &str = "Strategies (default: a portfolio of all)";
    pub const NETWORK: &str = "Network and faults";
    pub const OUTPUT: &str = "Output";
    pub const SYMBOLIC: &str = "Symbolic engine";
    pub const ALMOST_SYNC: &str = "Almost-synchronous engine";
    pub const CLUSTER: &str = "Several processes";
    pub const BOOGIE: &str = "Boogie files";
}

const EXIT_STATUS: &str = "Exit status: 0 holds or accepted, 1 violated, 2 input rejected or wrong usage, \
                           3 inconclusive, 4 a process of a cluster was lost, 101 internal error, 130 interrupted";

const START: &str = "Start here:
  allways demo         finds a bug, shows it and proves the repaired model
  allways new NAME     makes a small project with a bug to find
  allways check        tests the program in the current folder
  allways prove        proves that no run breaks it, or shows one that does

`allways COMMAND -h` shows the common options of a command, `--help` all of them.";

#[derive(Parser)]
#[command(
    name = "allways",
    version,
    about = "Finds the schedule that breaks an asynchronous program, or proves that none exists",
    after_help = START,
    after_long_help = format!("{START}\n\n{EXIT_STATUS}")
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,

    #[command(flatten)]
    pub show: ShowArgs,
}

/// How much is shown, for every command.
#[derive(clap::Args)]
pub struct ShowArgs {
    /// Show verdicts and counterexamples only
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = heading::OUTPUT)]
    pub quiet: bool,

    /// Show figures about the search as well: rates, memory, what each reduction saved
    #[arg(short, long, global = true, help_heading = heading::OUTPUT)]
    pub verbose: bool,

    /// When to use colors
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColorArg::Auto, hide_short_help = true, help_heading = heading::OUTPUT)]
    pub color: ColorArg,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorArg {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
pub enum Command {
    /// Make a small project with a planted bug and comments that lead to its repair
    New(NewArgs),
    /// Find a bug in a model that ships with Allways, and prove the repaired model
    Demo(DemoArgs),
    /// Check that a program is well-formed: names, types and every static rule
    Compile(CompileArgs),
    /// List the test cases of a program
    Tests(TestsArgs),
    /// Test a program: run many schedules and show the one that breaks it
    #[command(after_help = MORE, after_long_help = EXIT_STATUS)]
    Check(Box<CheckArgs>),
    /// Prove that no run breaks a property, or show one that does
    #[command(after_help = MORE, after_long_help = EXIT_STATUS)]
    Prove(Box<ProveArgs>),
    /// Decide whether every run ends, or messages cause messages for ever
    #[command(after_help = MORE, after_long_help = EXIT_STATUS)]
    Quiesce(Box<QuiesceArgs>),
    /// Check a proof that `prove --engine asi --certificate` wrote
    Certify(CertifyArgs),
    /// Run `prove` as several processes that work together
    Cluster(ClusterCommandArgs),
    /// Run a schedule file again and show the run
    Replay(ReplayArgs),
    /// Make a page of a trace or schedule, to look at in a browser
    Show(PageArgs),
    /// Step through a test by hand, in a browser
    Explore(ExploreArgs),
    /// Draw a small program: its configurations, its control states, or which machines send to which
    Graph(GraphArgs),
    /// Write an asynchronous Boogie program as a sequential one
    Sequentialize(SequentializeArgs),
    /// Explain a code that a diagnostic or a violation carries
    Explain(ExplainArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print a man page, or write all of them
    Man(ManArgs),
    /// Sum up the coverage of scenarios that `check` wrote for several test cases
    MergeScenarioCoverage(ScenariosArgs),
    /// Print the version, as `p version` does
    #[command(hide = true)]
    Version,
}

const MORE: &str = "All options: --help";

#[derive(clap::Args)]
pub struct NewArgs {
    /// The folder to make; its last part is the name of the project
    #[arg(value_name = "NAME")]
    pub folder: PathBuf,
}

#[derive(clap::Args)]
pub struct DemoArgs {
    /// Also write the model to this folder
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(clap::Args)]
pub struct ScenariosArgs {
    /// The folder below which the files are
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
}

#[derive(clap::Args)]
pub struct ManArgs {
    /// The command; without it, the page of `allways` itself
    pub command: Option<String>,

    /// Write the pages of all commands to this folder
    #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
    pub output: Option<PathBuf>,
}

/// The files that `check` and `prove` write.
#[derive(clap::Args)]
pub struct FileArgs {
    /// Where files go [default: PCheckerOutput, and only when something broke]
    #[arg(short, long, value_name = "DIR", hide_short_help = true, help_heading = heading::OUTPUT)]
    pub outdir: Option<PathBuf>,

    /// Write each counterexample as a page for a browser, into this folder
    #[arg(long, value_name = "DIR", hide_short_help = true, help_heading = heading::OUTPUT)]
    pub html: Option<PathBuf>,

    /// Write results as JUnit XML
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = heading::OUTPUT)]
    pub junit: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct QuiesceArgs {
    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub tests: TestArgs,

    /// Every test, compared with what `allways.toml` expects of its runs (that they end if it says nothing), as one table
    #[arg(long, help_heading = heading::TESTS)]
    pub all: bool,

    /// Only fair runs count: what can always move does, and `$$` gives both answers
    #[arg(long, help_heading = heading::SEARCH)]
    pub fair: bool,

    /// Machines of this kind are the environment: loops that need their steps do not count (repeatable)
    #[arg(long, value_name = "MACHINE", help_heading = heading::SEARCH)]
    pub stimulus: Vec<String>,

    /// Which engine answers
    ///
    /// Explicit search explores one configuration after the other, knows fairness and loops in which messages pile up.
    /// Symbolic search explores sets of configurations, which have to be finitely many.
    #[arg(long, value_name = "NAME", value_parser = ["explicit", "symbolic"], help_heading = heading::SEARCH)]
    pub engine: Option<String>,

    /// Draw the loop, as .svg, .dot or .json
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = heading::OUTPUT)]
    pub diagram: Option<PathBuf>,

    /// Seconds after which the search ends
    #[arg(short, long, value_name = "SECONDS", help_heading = heading::LIMITS)]
    pub timeout: Option<u64>,

    /// Gigabytes that the search may use [default: four fifths of what is free]
    #[arg(short, long, visible_alias = "memout", value_name = "GB", value_parser = gigabytes, hide_short_help = true, help_heading = heading::LIMITS)]
    pub memory: Option<f64>,

    /// Show all steps of a run
    #[arg(long, hide_short_help = true, help_heading = heading::OUTPUT)]
    pub full_trace: bool,

    /// Where files go [default: PCheckerOutput, and only when a run does not end]
    #[arg(short, long, value_name = "DIR", hide_short_help = true, help_heading = heading::OUTPUT)]
    pub outdir: Option<PathBuf>,

    /// Write results as JUnit XML
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = heading::OUTPUT)]
    pub junit: Option<PathBuf>,

    #[command(flatten)]
    pub network: NetworkArgs,

    #[command(flatten)]
    pub format: FormatArgs,

    /// Show the options for Boogie files
    #[arg(long, action = clap::ArgAction::HelpLong, hide_short_help = true)]
    pub help_boogie: Option<bool>,

    /// At most this many rounds in which tasks run [default: 1, 2, 3 in turn]
    #[arg(long, value_name = "K", hide_short_help = true, help_heading = heading::BOOGIE, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,

    /// At most this many activations of one procedure in a causal chain, or iterations of a loop [default: 1 to 8 in turn]
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = heading::BOOGIE, value_parser = clap::value_parser!(u32).range(1..))]
    pub recursion: Option<u32>,

    /// The procedure to start from [default: the one marked `{:entrypoint}`, or `main`]
    #[arg(long, value_name = "NAME", hide_short_help = true, help_heading = heading::BOOGIE)]
    pub entry: Option<String>,

    /// Keep the dialogue with the solver as an SMT file
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = heading::BOOGIE)]
    pub dump_smt: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct GraphArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// The test case [-tc]
    #[arg(long, value_name = "NAME", help_heading = heading::TESTS)]
    pub testcase: Option<String>,

    /// Draw machines and which of them send what to which, instead of configurations
    #[arg(long)]
    pub topology: bool,

    /// Draw the control states of each machine and which event leads where, instead of configurations
    #[arg(long, conflicts_with = "topology")]
    pub states: bool,

    /// With --states: only this machine or monitor (repeatable)
    #[arg(long, value_name = "NAME", requires = "states")]
    pub machine: Vec<String>,

    /// Draw at most this many configurations [default: 500, or 60 for a picture]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub max_nodes: Option<usize>,

    #[command(flatten)]
    pub network: NetworkArgs,

    /// How the graph is written
    #[arg(long, value_enum, default_value_t = GraphFormat::Dot)]
    pub format: GraphFormat,

    /// Where it goes [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// For Graphviz
    Dot,
    /// A picture
    Svg,
    /// For scripts
    Json,
}

#[derive(clap::Args)]
pub struct CertifyArgs {
    /// The certificate
    pub file: PathBuf,

    #[command(flatten)]
    pub input: InputArgs,
}

#[derive(clap::Args)]
pub struct ReplayArgs {
    /// The schedule file
    pub file: PathBuf,

    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub network: NetworkArgs,

    /// Show all steps
    #[arg(long, help_heading = heading::OUTPUT)]
    pub full_trace: bool,

    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(clap::Args)]
pub struct CompileArgs {
    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub format: FormatArgs,

    /// Write a body in P for every foreign function that has none, for use with `--foreign`
    #[arg(long, value_name = "FILE")]
    pub foreign_stubs: Option<PathBuf>,

    #[command(flatten)]
    pub compat: compat::CompileCompatArgs,
}

#[derive(clap::Args)]
pub struct TestsArgs {
    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(clap::Args)]
pub struct ExplainArgs {
    /// The code, such as `unknown-event` or `deadlock`; without it, all codes are listed
    pub code: Option<String>,
}

#[derive(clap::Args)]
pub struct FormatArgs {
    /// How results are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text, help_heading = heading::OUTPUT)]
    pub format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For scripts: one versioned JSON document
    Json,
    /// For people, and annotations for GitHub Actions
    Github,
    /// For code scanning: one SARIF 2.1.0 document
    Sarif,
    /// For tools of P such as Peasy: diagnostics in the form of `p compile`
    P,
}

impl Format {
    /// Whether results are written as text for people; with SARIF, that text is not shown.
    pub fn is_text(self) -> bool {
        self != Format::Json
    }
}

impl Command {
    /// What `--format` says, where there is one.
    pub fn format(&self) -> Format {
        match self {
            Command::Compile(args) => args.format.format,
            Command::Tests(args) => args.format.format,
            Command::Check(args) => args.format.format,
            Command::Prove(args) => args.format.format,
            Command::Quiesce(args) => args.format.format,
            Command::Replay(args) => args.format.format,
            _ => Format::Text,
        }
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n >= 1 => Ok(n),
        _ => Err("at least 1 is needed".to_owned()),
    }
}

/// More threads than any machine has processors would only take its memory.
const MAX_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    match at_least_one(text)? {
        n if n <= MAX_THREADS => Ok(n),
        _ => Err(format!("at most {MAX_THREADS} are possible")),
    }
}

fn gigabytes(text: &str) -> Result<f64, String> {
    const NEEDED: &str = "a positive number of gigabytes is needed";
    match text.parse::<f64>() {
        Ok(n) if n > 0.0 && n.is_finite() => Ok(n),
        // In older versions of P, `-m` names a test case.
        Err(_) if text.starts_with(|first: char| first.is_alphabetic()) => {
            Err(format!("{NEEDED}; `-tc NAME` chooses a test case"))
        }
        _ => Err(NEEDED.to_owned()),
    }
}

/// Shows help or what is wrong with the arguments.
pub fn show_usage(error: &clap::Error, words: &[OsString]) -> ExitStatus {
    use clap::error::ErrorKind;
    let text = error.render().ansi().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp => {
            printer::out(&help_page(words, printer::help_width()));
            ExitStatus::Success
        }
        ErrorKind::DisplayVersion => {
            printer::out(&text);
            ExitStatus::Success
        }
        ErrorKind::UnknownArgument if unknown_option(error).is_some() => {
            let option = unknown_option(error).unwrap_or_default();
            let mut table = Args::command();
            table.build();
            let words: Vec<&str> = words.iter().skip(1).filter_map(|word| word.to_str()).collect();
            let mut path = vec![&table];
            path.extend(commands_in(&table, &words));
            printer::err(&unknown::message(&table, &path, &option));
            ExitStatus::Rejected
        }
        _ => {
            printer::err(&text);
            ExitStatus::Rejected
        }
    }
}

/// The option that the parser did not know, without its value.
fn unknown_option(error: &clap::Error) -> Option<String> {
    let clap::error::ContextValue::String(word) = error.get(clap::error::ContextKind::InvalidArg)? else {
        return None;
    };
    let option = word.split('=').next()?;
    option.strip_prefix("--").filter(|name| !name.is_empty()).map(|_| option.to_owned())
}

/// The commands that words name, from the outermost on.
fn commands_in<'t>(table: &'t clap::Command, words: &[&str]) -> Vec<&'t clap::Command> {
    let (mut command, mut path) = (table, Vec::new());
    for word in words {
        if let Some(found) = command.find_subcommand(word).filter(|found| found.get_name() != "help") {
            command = found;
            path.push(found);
        }
    }
    path
}

/// The page that these arguments ask for.
fn help_page(words: &[OsString], width: usize) -> String {
    let mut table = Args::command();
    table.build();
    let words: Vec<&str> = words.iter().skip(1).filter_map(|word| word.to_str()).collect();
    let command = commands_in(&table, &words).pop();
    let extent = if words.contains(&"--help-boogie") {
        help::Extent::Boogie
    } else if words.contains(&"--help") || words.first() == Some(&"help") {
        help::Extent::Long
    } else {
        help::Extent::Short
    };
    help::page(command.unwrap_or(&table), extent, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound() {
        Args::command().debug_assert();
    }

    /// Short help is for a first look: it must fit on a screen.
    #[test]
    fn short_help_fits_on_a_screen() {
        let mut table = Args::command();
        table.build();
        for command in table.get_subcommands_mut() {
            let lines = help::page(command, help::Extent::Short, 80).lines().count();
            assert!(lines <= 45, "`allways {} -h` has {lines} lines", command.get_name());
        }
    }

    /// Every option is on exactly one of the two long pages, and no line is wider than it may be.
    #[test]
    fn long_help_shows_every_option_within_the_width() {
        let mut table = Args::command();
        table.build();
        for command in table.get_subcommands() {
            let plain = |extent| anstream::adapter::strip_str(&help::page(command, extent, 80)).to_string();
            let (long, boogie) = (plain(help::Extent::Long), plain(help::Extent::Boogie));
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let Some(name) = arg.get_long() else { continue };
                let has = |page: &str| page.split([' ', ',', '\n']).any(|word| word == format!("--{name}"));
                let is_apart = boogie.contains("Boogie files:") && !long.contains("Boogie files:");
                let is_boogie = arg.get_help_heading() == Some(heading::BOOGIE);
                assert_eq!(
                    (has(&long), has(&boogie)),
                    (!is_apart || !is_boogie, is_boogie),
                    "{name} of {}",
                    command.get_name()
                );
            }
            let widest = long.lines().chain(boogie.lines()).map(|line| line.chars().count()).max();
            assert!(
                widest <= Some(80),
                "a line of `allways {} --help` has {widest:?} columns",
                command.get_name()
            );
        }
    }
}

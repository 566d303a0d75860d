//! Arguments. `p` has options of two letters with one dash (`-pp`, `-tc`), which are rewritten before the
//! ordinary parser sees them, so that habits and scripts carry over.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use allways_driver::engine;
use allways_explore::StrategyKind;
use allways_explore::almost_sync::FloodRule;
use allways_explore::search::Reductions;
use allways_run::NetworkModel;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Parser, Subcommand, ValueEnum};

use crate::exit::ExitStatus;
use crate::printer;

#[derive(Parser)]
#[command(
    name = "allways",
    version,
    about = "Finds the schedule that breaks an asynchronous program, or proves that none exists",
    after_help = "Exit status: 0 holds or accepted, 1 violated, 2 input rejected or wrong usage, \
                  3 inconclusive, 101 internal error, 130 interrupted"
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Check that a program is well-formed: names, types and every static rule
    Compile(CompileArgs),
    /// List the test cases of a program
    Tests(CompileArgs),
    /// Test a program: run many schedules and show the one that breaks it
    Check(Box<CheckArgs>),
    /// Prove that no run breaks a property, or show one that does
    Prove(Box<ProveArgs>),
    /// Ask whether every run ends, or messages cause messages for ever
    Quiesce(Box<QuiesceArgs>),
    /// Check a proof that `prove --engine asi --certificate` wrote
    Certify(CertifyArgs),
    /// Run a schedule file again and show the run
    Replay(ReplayArgs),
    /// Draw a small program: its configurations, or who may send to whom
    Graph(GraphArgs),
    /// Write an asynchronous Boogie program as a sequential one
    Sequentialize(SequentializeArgs),
    /// Explain a code that a diagnostic carries
    Explain(ExplainArgs),
}

/// Schedules that are run when nothing is said.
pub const DEFAULT_SCHEDULES: u64 = 10_000;

#[derive(clap::Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// The test case of this name, or else all whose names begin with it [-tc]
    #[arg(long, value_name = "NAME")]
    pub testcase: Option<String>,

    /// Every test, compared with what `allways.toml` expects, as one table
    #[arg(long)]
    pub all: bool,

    /// List the test cases
    #[arg(long)]
    pub list_tests: bool,

    /// How many schedules; 0 is no limit [default: 10000, or no limit with --timeout]
    #[arg(short, long, visible_alias = "iterations", short_alias = 'i', value_name = "N")]
    pub schedules: Option<u64>,

    /// Seconds after which testing ends [default for Boogie files: 30]
    #[arg(short, long, value_name = "SECONDS")]
    pub timeout: Option<u64>,

    /// Gigabytes that testing may use [default: four fifths of what is free]
    #[arg(short, long, visible_alias = "memout", value_name = "GB", value_parser = positive)]
    pub memory: Option<f64>,

    /// Steps of a schedule under unfair strategies, then under fair ones (10 times as many); 0 is no bound [-ms]
    #[arg(long, value_name = "N", num_args = 1..=2)]
    pub max_steps: Vec<u64>,

    /// A schedule that hits the bound is a violation, under a strategy that is fair, at least in the end
    #[arg(long)]
    pub fail_on_maxsteps: bool,

    /// The seed; the same seed and options give the same answer
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Go on after a violation, and show one for each place
    #[arg(long)]
    pub explore: bool,

    #[command(flatten)]
    pub strategies: StrategyArgs,

    /// Threads; the answer does not depend on it [default: all cores]
    #[arg(short = 'j', long, value_name = "N", value_parser = at_least_one)]
    pub threads: Option<usize>,

    /// Which infinite runs count for liveness
    #[arg(long, value_enum, default_value_t = FairnessArg::Random)]
    pub fairness: FairnessArg,

    /// Show a counterexample as it was found
    #[arg(long)]
    pub no_shrink: bool,

    /// Show all steps of a counterexample
    #[arg(long)]
    pub full_trace: bool,

    /// Show which handlers never ran
    #[arg(long)]
    pub coverage: bool,

    /// Where files go [default: PCheckerOutput, and only when something broke]
    #[arg(short, long, value_name = "DIR")]
    pub outdir: Option<PathBuf>,

    /// Write results as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Run a schedule file again instead
    #[arg(short, long, value_name = "FILE")]
    pub replay: Option<PathBuf>,

    /// How results are written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,

    #[command(flatten)]
    pub network: NetworkArgs,

    #[command(flatten)]
    pub boogie: BoogieArgs,

    /// Accepted for compatibility: everything is shown on request
    #[arg(short, long, hide = true)]
    pub verbose: bool,

    #[command(flatten)]
    pub habits: HabitArgs,
}

/// Options of `p` for which there is something else here. They are understood, and a note says what is done.
#[derive(clap::Args)]
pub struct HabitArgs {
    #[arg(long, hide = true, value_name = "MODE")]
    pub mode: Option<String>,
    #[arg(long, hide = true)]
    pub xml_trace: bool,
    #[arg(long, hide = true)]
    pub graph: bool,
    #[arg(long, hide = true)]
    pub graph_bug: bool,
}

impl HabitArgs {
    /// What to say before `check` begins.
    ///
    /// # Errors
    /// When something else is meant than testing.
    pub fn notes(&self) -> Result<Vec<&'static str>, String> {
        match self.mode.as_deref().map(str::to_ascii_lowercase).as_deref() {
            None | Some("bugfinding" | "pchecker") => {}
            Some("pex") => {
                return Err("`--mode pex` looks at all runs: that is `allways prove` here".to_owned());
            }
            Some("verification" | "pverifier") => {
                return Err("`--mode verification` proves by invariants, which is not done here; `allways prove` looks at all runs"
                    .to_owned());
            }
            Some(other) => {
                return Err(format!(
                    "there is no `--mode {other}` here; `allways check` tests, `allways prove` proves"
                ));
            }
        }
        let mut notes = Vec::new();
        if self.xml_trace {
            notes.push("`--xml-trace`: traces are written as text and as JSON, not as XML");
        }
        if self.graph || self.graph_bug {
            notes.push("`--graph`: no graph is drawn by `check`; `allways graph` draws small programs");
        }
        Ok(notes)
    }
}

/// What may happen to messages and machines. All of it is part of the schedule, so that runs replay.
#[derive(clap::Args)]
pub struct NetworkArgs {
    /// Which order messages keep on their way [default: inbox]
    #[arg(long, value_enum, value_name = "MODEL", help_heading = "Network and faults")]
    pub network: Option<NetworkArg>,
    /// Messages of this event can be lost; can be given again
    #[arg(long, value_name = "EVENT", help_heading = "Network and faults")]
    pub lossy: Vec<String>,
    /// Messages of this event can arrive twice; can be given again
    #[arg(long, value_name = "EVENT", help_heading = "Network and faults")]
    pub duplicating: Vec<String>,
    /// Machines of this kind can crash at any time; can be given again
    #[arg(long, value_name = "MACHINE", help_heading = "Network and faults")]
    pub crash: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NetworkArg {
    /// One queue for each receiver, as P has it
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

/// For `.bpl` files.
#[derive(clap::Args)]
#[command(next_help_heading = "Boogie files")]
pub struct BoogieArgs {
    /// Whose interleavings are looked at
    #[arg(long, value_enum, default_value_t = SchedulerArg::Dfw)]
    pub scheduler: SchedulerArg,

    /// Exactly so many delays (child-first: K + 1 rounds); otherwise one more after the other
    #[arg(long, value_name = "K")]
    pub delays: Option<u32>,

    /// Exactly so many nested calls of one procedure, or turns of a loop; otherwise more and more while there is time
    #[arg(long, value_name = "N")]
    pub recursion: Option<u32>,

    /// Whether a failing assertion ends the run
    #[arg(long, value_enum, default_value_t = AssertionsArg::Exit)]
    pub assertions: AssertionsArg,

    /// Where tasks may be preempted [default: explicit; automatic for a program in Corral's spelling without yields]
    #[arg(long, value_enum)]
    pub preemption: Option<PreemptionArg>,

    /// The procedure to start from [default: the one marked `{:entrypoint}`, or `main`]
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,

    /// Keep what is said to the solver, as a file for it
    #[arg(long, value_name = "FILE")]
    pub dump_smt: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchedulerArg {
    /// Depth first, and waits are understood
    Dfw,
    /// Depth first
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

    /// With --non-termination: in how many rounds tasks run
    #[arg(long, value_name = "K", default_value_t = 1, requires = "non_termination", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,

    /// Where the program goes [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n >= 1 => Ok(n),
        _ => Err("at least 1 is needed".to_owned()),
    }
}

/// At most one strategy; without any, a portfolio of all.
#[derive(clap::Args)]
#[group(multiple = false)]
pub struct StrategyArgs {
    /// Choose at random
    #[arg(long, help_heading = "Strategies")]
    pub sch_random: bool,
    /// Stay on a machine, leave it with probability 1 / 2^N
    #[arg(long, value_name = "N", help_heading = "Strategies")]
    pub sch_probabilistic: Option<u32>,
    /// Priorities with N changes
    #[arg(long, value_name = "N", help_heading = "Strategies")]
    pub sch_pct: Option<u32>,
    /// The same, then at random
    #[arg(long, value_name = "N", help_heading = "Strategies")]
    pub sch_fairpct: Option<u32>,
    /// Partial-order sampling
    #[arg(long, help_heading = "Strategies")]
    pub sch_pos: bool,
    /// At most N delays
    #[arg(long, value_name = "N", help_heading = "Strategies")]
    pub sch_delay: Option<u32>,
    /// All schedules, depth first
    #[arg(long, help_heading = "Strategies")]
    pub sch_dfs: bool,
    // Those of `p` that are not here; see `note`.
    #[arg(long, hide = true)]
    pub sch_feedback: bool,
    #[arg(long, hide = true, value_name = "N")]
    pub sch_feedbackpct: Option<u32>,
    #[arg(long, hide = true)]
    pub sch_feedbackpos: bool,
    #[arg(long, hide = true)]
    pub sch_rl: bool,
}

impl StrategyArgs {
    pub fn is_given(&self) -> bool {
        self.sch_random
            || self.sch_pos
            || self.sch_dfs
            || self.sch_probabilistic.is_some()
            || self.sch_pct.is_some()
            || self.sch_fairpct.is_some()
            || self.sch_delay.is_some()
            || self.sch_feedback
            || self.sch_feedbackpct.is_some()
            || self.sch_feedbackpos
            || self.sch_rl
    }

    /// What is done instead of a strategy that is not here.
    pub fn note(&self) -> Option<&'static str> {
        if self.sch_feedback {
            Some("there is no `--sch-feedback`: a portfolio of all strategies runs instead")
        } else if self.sch_rl {
            Some("there is no `--sch-rl`: a portfolio of all strategies runs instead")
        } else if self.sch_feedbackpct.is_some() {
            Some("there is no `--sch-feedbackpct`: `--sch-pct` runs instead")
        } else if self.sch_feedbackpos {
            Some("there is no `--sch-feedbackpos`: `--sch-pos` runs instead")
        } else {
            None
        }
    }

    pub fn kind(&self) -> Result<StrategyKind, String> {
        Ok(if self.sch_random {
            StrategyKind::Random
        } else if self.sch_pos || self.sch_feedbackpos {
            StrategyKind::Pos
        } else if self.sch_dfs {
            StrategyKind::DepthFirst
        } else if let Some(n) = self.sch_probabilistic {
            StrategyKind::Probabilistic(n)
        } else if let Some(n) = self.sch_pct.or(self.sch_feedbackpct) {
            StrategyKind::Pct(n)
        } else if let Some(n) = self.sch_fairpct {
            StrategyKind::FairPct(n)
        } else if let Some(n) = self.sch_delay {
            StrategyKind::DelayBounding(n)
        } else {
            StrategyKind::Portfolio
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FairnessArg {
    /// Those that random scheduling produces
    Random,
    /// Those in which every machine that can always step does; `$` is free, `$$` is fair
    Weak,
}

#[derive(clap::Args)]
pub struct ProveArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// The test case of this name, or else all whose names begin with it [-tc]
    #[arg(long, value_name = "NAME")]
    pub testcase: Option<String>,

    /// Every test, compared with what `allways.toml` expects, as one table
    #[arg(long)]
    pub all: bool,

    /// Which engine answers
    ///
    /// [default: auto]
    #[arg(long, value_name = "NAME", value_parser = engine_names())]
    pub engine: Option<String>,

    #[command(flatten)]
    pub almost_sync: AlmostSyncArgs,

    #[command(flatten)]
    pub symbolic: SymbolicArgs,

    /// The order in which configurations are looked at
    #[arg(long, value_enum, default_value_t = OrderArg::Breadth)]
    pub order: OrderArg,

    /// How configurations that were seen are kept
    #[arg(long, value_enum, default_value_t = StoreArg::Fingerprint)]
    pub store: StoreArg,

    /// Which infinite runs count for liveness
    #[arg(long, value_enum, default_value_t = ProveFairnessArg::Random)]
    pub fairness: ProveFairnessArg,

    /// The reductions to use: `all`, `none`, `default`, or names: dead-variables, unread-payloads,
    /// collection-order, broadcasts, symmetry, persistent-sets, path-compression, timer-stutter, confluent-sends, lazy-faults,
    /// data-independence. None changes
    /// a verdict; the first three and the last are also for `--engine asi`
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = reduction)]
    pub reductions: Vec<String>,

    /// A reduction not to use, nor what needs it; may come several times
    #[arg(long, value_name = "NAME", value_parser = reduction)]
    pub no_reduction: Vec<String>,

    /// Bound the number of steps
    #[arg(long, value_name = "N")]
    pub max_depth: Option<u64>,

    /// Bound the messages that wait in one inbox
    #[arg(long, value_name = "N")]
    pub max_inbox: Option<u32>,

    /// Bound the messages of one event that wait in one inbox
    #[arg(long, value_name = "N")]
    pub max_occurrences: Option<u32>,

    /// Bound the numbers in a variable and how many elements sequences, sets and maps in it have; with
    /// `sizeof(VARIABLE)=N` only the latter; may come several times
    #[arg(long, value_name = "[MACHINE.]VARIABLE=N", value_parser = variable_bound)]
    pub max_value: Vec<(String, u64)>,

    /// Look at N answers of `choose(n)`, from the first to the last, evenly spread
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_choices: Option<u32>,

    /// Seconds after which the search ends
    #[arg(short, long, value_name = "SECONDS")]
    pub timeout: Option<u64>,

    /// Gigabytes that the search may use [default: four fifths of what is free]
    #[arg(short, long, visible_alias = "memout", value_name = "GB", value_parser = positive)]
    pub memory: Option<f64>,

    /// Threads; the answer does not depend on it [default: all cores]
    #[arg(short = 'j', long, value_name = "N", value_parser = at_least_one)]
    pub threads: Option<usize>,

    /// Show all steps of a counterexample
    #[arg(long)]
    pub full_trace: bool,

    /// Where files go [default: PCheckerOutput, and only when something broke]
    #[arg(short, long, value_name = "DIR")]
    pub outdir: Option<PathBuf>,

    /// Write results as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    #[command(flatten)]
    pub network: NetworkArgs,

    /// How results are written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Of each option by itself, as for the almost-synchronous engine.
const BOOGIE_HEADING: &str = "Boogie files";

#[derive(clap::Args)]
pub struct QuiesceArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// The test case of this name, or else all whose names begin with it [-tc]
    #[arg(long, value_name = "NAME")]
    pub testcase: Option<String>,

    /// Every test case, one after the other
    #[arg(long)]
    pub all: bool,

    /// Only fair runs count: what can always move does, and `$$` gives both answers
    #[arg(long)]
    pub fair: bool,

    /// Machines of this kind are the environment: loops that need their steps do not count; can be given again
    #[arg(long, value_name = "MACHINE")]
    pub stimulus: Vec<String>,

    /// Draw the loop, as .svg, .dot or .json
    #[arg(long, value_name = "FILE")]
    pub diagram: Option<PathBuf>,

    /// Seconds after which the search ends
    #[arg(short, long, value_name = "SECONDS")]
    pub timeout: Option<u64>,

    /// Gigabytes that the search may use [default: four fifths of what is free]
    #[arg(short, long, visible_alias = "memout", value_name = "GB", value_parser = positive)]
    pub memory: Option<f64>,

    /// Show all steps of a run
    #[arg(long)]
    pub full_trace: bool,

    /// Where files go [default: PCheckerOutput, and only when a run does not end]
    #[arg(short, long, value_name = "DIR")]
    pub outdir: Option<PathBuf>,

    /// Write results as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    #[command(flatten)]
    pub network: NetworkArgs,

    /// How results are written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,

    /// At most so many rounds in which tasks run; otherwise one more after the other, up to 3
    #[arg(long, value_name = "K", help_heading = BOOGIE_HEADING, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,

    /// At most so many activations of one procedure in a causal chain, or turns of a loop; otherwise one more after the
    /// other, up to 8
    #[arg(long, value_name = "N", help_heading = BOOGIE_HEADING, value_parser = clap::value_parser!(u32).range(1..))]
    pub recursion: Option<u32>,

    /// The procedure to start from [default: the one marked `{:entrypoint}`, or `main`]
    #[arg(long, value_name = "NAME", help_heading = BOOGIE_HEADING)]
    pub entry: Option<String>,

    /// Keep what is said to the solver
    #[arg(long, value_name = "FILE", help_heading = BOOGIE_HEADING)]
    pub dump_smt: Option<PathBuf>,
}

fn variable_bound(text: &str) -> Result<(String, u64), String> {
    let bound = text.split_once('=').and_then(|(name, most)| Some((name.to_owned(), most.parse().ok()?)));
    bound.ok_or_else(|| "write it as `Machine.variable=5`".to_owned())
}

fn reduction(text: &str) -> Result<String, String> {
    match text {
        "all" | "none" | "default" => Ok(text.to_owned()),
        _ => match Reductions::known_as(text) {
            Some(name) => Ok(name.to_owned()),
            None => Err(format!("known are {}", Reductions::NAMES.join(", "))),
        },
    }
}

impl ProveArgs {
    /// The engine that was asked for.
    pub fn engine(&self) -> &str {
        self.engine.as_deref().unwrap_or(engine::AUTO)
    }
}

fn engine_names() -> PossibleValuesParser {
    let auto = PossibleValue::new(engine::AUTO)
        .help("A little testing, then all engines at once; the first final answer counts");
    let engines = engine::ENGINES.iter().filter(|entry| entry.proves);
    let engines = engines.map(|entry| PossibleValue::new(entry.name).help(entry.about));
    PossibleValuesParser::new(std::iter::once(auto).chain(engines))
}

/// Of each option by itself: a heading of the whole group would go on to the options behind it.
const SYMBOLIC_HEADING: &str = "Symbolic engine";

/// For `--engine symbolic`.
#[derive(clap::Args)]
pub struct SymbolicArgs {
    /// Look for a shortest counterexample, whatever it costs
    #[arg(long, help_heading = SYMBOLIC_HEADING)]
    pub shortest: bool,

    /// Show the order of machines, monitors and networks in the decision diagrams
    #[arg(long, help_heading = SYMBOLIC_HEADING)]
    pub show_order: bool,

    /// At the end of a proof, show what always holds: in each control state of each machine, the values of small variables and the
    /// control states of others
    #[arg(long, help_heading = SYMBOLIC_HEADING)]
    pub show_invariants: bool,

    /// Which machines and monitors take several levels of the diagrams: control state, inbox, each variable
    #[arg(long, value_enum, value_name = "WHICH", default_value = "large", help_heading = SYMBOLIC_HEADING)]
    pub split: SplitArg,
}

/// Which machines and monitors are split.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum SplitArg {
    /// Those with more than 200,000 local states
    Large,
    /// None
    Never,
    /// All
    Always,
}

const ALMOST_SYNC_HEADING: &str = "Almost-synchronous engine";

/// For `--engine asi`.
#[derive(clap::Args)]
pub struct AlmostSyncArgs {
    /// Which sends are looked at first
    #[arg(long, value_enum, default_value_t = DestinationArg::LeastWaiting, help_heading = ALMOST_SYNC_HEADING)]
    pub destination: DestinationArg,

    /// Beyond how many messages an inbox is over-approximated: `auto`, `off` or a number
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = flood_rule, help_heading = ALMOST_SYNC_HEADING)]
    pub flood: FloodRule,

    /// Make steps too that lead where others have led in another order, as certificates do; the verdict is the same
    #[arg(long, help_heading = ALMOST_SYNC_HEADING)]
    pub no_sleep_sets: bool,

    /// Write the proof for `allways certify`
    #[arg(long, value_name = "FILE", help_heading = ALMOST_SYNC_HEADING)]
    pub certificate: Option<PathBuf>,

    /// Give up after so many states
    #[arg(long, value_name = "N", help_heading = ALMOST_SYNC_HEADING)]
    pub max_states: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DestinationArg {
    /// Those after which the fewest messages wait
    LeastWaiting,
    /// Those of the first machine that can move
    Canonical,
}

fn flood_rule(text: &str) -> Result<FloodRule, String> {
    match (text, text.parse()) {
        ("auto", _) => Ok(FloodRule::Auto),
        ("off", _) => Ok(FloodRule::Off),
        (_, Ok(bound)) => Ok(FloodRule::Bound(bound)),
        _ => Err("`auto`, `off` or a number is needed".to_owned()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(n) if n > 0.0 && n.is_finite() => Ok(n),
        _ => Err("a positive number is needed".to_owned()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrderArg {
    /// Layer by layer; counterexamples are shortest
    Breadth,
    /// One thread, little memory; counterexamples are long
    Depth,
    /// Depth first to a depth that doubles each time
    Deepening,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StoreArg {
    /// 64 bits of each; the verdict names the chance that two share them
    Fingerprint,
    /// 128 bits of each
    Wide,
    /// All of each; nothing is omitted
    Exact,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProveFairnessArg {
    /// Those that random scheduling produces
    Random,
    /// Those in which every machine that can always step does; `$` is free, `$$` is fair
    Weak,
    /// None: liveness of infinite runs is left out
    None,
}

#[derive(clap::Args)]
pub struct GraphArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// The test case [-tc]
    #[arg(long, value_name = "NAME")]
    pub testcase: Option<String>,

    /// Machines by where they are created, and who may send what to whom, instead of configurations
    #[arg(long)]
    pub topology: bool,

    /// Configurations beyond so many are not looked into
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = at_least_one)]
    pub max_nodes: usize,

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
    #[arg(long)]
    pub full_trace: bool,

    /// How results are written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(clap::Args)]
pub struct InputArgs {
    /// A folder, a `.pproj` file or `.p` files; the current folder if nothing is given
    pub paths: Vec<PathBuf>,

    /// The project file
    #[arg(long = "pproj", visible_alias = "pp", value_name = "FILE", conflicts_with = "paths")]
    pub project: Option<PathBuf>,

    /// The source files
    #[arg(long = "pfiles", visible_alias = "pf", value_name = "FILE", num_args = 1.., conflicts_with = "paths")]
    pub files: Vec<PathBuf>,

    /// Bodies in P for functions that the program declares as foreign; `any` lets those without one answer with every value
    /// of their type, where these are few
    #[arg(long, value_name = "FILE|any")]
    pub foreign: Vec<PathBuf>,

    /// Reject what the compiler of P 3 rejects, also where programs of older versions would be understood
    #[arg(long)]
    pub strict: bool,
}

impl InputArgs {
    pub fn request(&self) -> allways_driver::Request {
        let mut paths: Vec<PathBuf> = self.paths.iter().map(|path| project_of_library(path)).collect();
        paths.extend(self.project.clone());
        paths.extend(self.files.iter().cloned());
        allways_driver::Request { paths, foreign: self.foreign.clone() }
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

#[derive(clap::Args)]
pub struct CompileArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// How results are written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,

    /// Writes a body in P for every foreign function that has none, for use with `--foreign`
    #[arg(long, value_name = "FILE")]
    pub foreign_stubs: Option<PathBuf>,

    /// Accepted for compatibility: for which of its checkers `p` makes code, which is not made here
    #[arg(long, hide = true, value_name = "MODE")]
    pub mode: Option<String>,
}

#[derive(clap::Args)]
pub struct ExplainArgs {
    /// The code, such as `unknown-event`; without it, all codes are listed
    pub code: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For scripts
    Json,
}

/// Options of `p` that have several letters after one dash.
const SHORT_WORDS: &[(&str, &str)] = &[
    ("-pp", "--pproj"),
    ("-pf", "--pfiles"),
    ("-tc", "--testcase"),
    ("-ms", "--max-steps"),
    ("-md", "--mode"),
    ("-sp", "--sch-probabilistic"),
];

/// The arguments with P's short options written out.
pub fn normalize(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    args.map(|arg| {
        let found = SHORT_WORDS.iter().find(|(short, _)| arg == *short);
        found.map_or(arg, |&(_, long)| OsString::from(long))
    })
    .collect()
}

/// Shows help or what is wrong with the arguments.
pub fn show_usage(error: &clap::Error) -> ExitStatus {
    use clap::error::ErrorKind;
    let text = error.render().ansi().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            printer::out(&text);
            ExitStatus::Success
        }
        _ => {
            printer::err(&text);
            ExitStatus::Rejected
        }
    }
}

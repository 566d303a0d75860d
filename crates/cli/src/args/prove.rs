//! Options of `prove`.

use std::path::PathBuf;

use allways_base::nearest::nearest;
use allways_driver::engine;
use allways_explore::Fairness;
use allways_explore::almost_sync::FloodRule;
use allways_explore::search::{Order, Reduction, Reductions};
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser};

use super::heading::{ALMOST_SYNC, SYMBOLIC};
use super::{
    DistributeArgs, FileArgs, FormatArgs, InputArgs, NetworkArgs, TestArgs, gigabytes, heading, threads,
};

#[derive(clap::Args)]
pub struct ProveArgs {
    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub tests: TestArgs,

    /// Every test, compared with what `allways.toml` expects, as one table
    #[arg(long, help_heading = heading::TESTS)]
    pub all: bool,

    /// Which engine answers [default: auto]
    #[arg(long, value_name = "NAME", value_parser = engine_names(), help_heading = heading::SEARCH)]
    pub engine: Option<String>,

    #[command(flatten)]
    pub almost_sync: AlmostSyncArgs,

    /// Prove for all values of the types under `[[abstract]]` in `allways.toml`; of a value, only whether it is the
    /// distinguished one is tracked
    #[arg(long = "abstract", hide_short_help = true)]
    pub is_abstract: bool,

    #[command(flatten)]
    pub symbolic: SymbolicArgs,

    /// The order in which configurations are explored
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = OrderArg::Breadth, hide_short_help = true, help_heading = heading::SEARCH)]
    pub order: OrderArg,

    /// How visited configurations are stored
    #[arg(long, value_enum, value_name = "KIND", default_value_t = StoreArg::Fingerprint, hide_short_help = true, help_heading = heading::SEARCH)]
    pub store: StoreArg,

    /// Which infinite runs count for liveness
    #[arg(long, value_enum, value_name = "KIND", default_value_t = ProveFairnessArg::Random, hide_short_help = true, help_heading = heading::SEARCH)]
    pub fairness: ProveFairnessArg,

    // The help text comes from the table of reductions.
    #[arg(long, value_name = "LIST", help = reductions_help(), value_delimiter = ',', value_parser = reduction, hide_short_help = true, help_heading = heading::SEARCH)]
    pub reductions: Vec<String>,

    /// A reduction to turn off, with those that build on it (repeatable)
    #[arg(long, value_name = "NAME", value_parser = reduction, hide_short_help = true, help_heading = heading::SEARCH)]
    pub no_reduction: Vec<String>,

    /// Explore runs of up to N steps
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = heading::BOUNDS)]
    pub max_depth: Option<u64>,

    /// Cut runs off where more than N messages wait in one inbox
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = heading::BOUNDS)]
    pub max_inbox: Option<u32>,

    /// Cut runs off where more than N messages of one event wait in one inbox
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = heading::BOUNDS)]
    pub max_occurrences: Option<u32>,

    /// Cut runs off where a number in this variable exceeds N, or a collection in it has more elements; with
    /// `sizeof(VARIABLE)=N`, only the latter (repeatable)
    #[arg(long, value_name = "[MACHINE.]VARIABLE=N", value_parser = variable_bound, hide_short_help = true, help_heading = heading::BOUNDS)]
    pub max_value: Vec<(String, u64)>,

    /// Explore N answers of each `choose` of a number, evenly spread from the first to the last
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true, help_heading = heading::BOUNDS)]
    pub max_choices: Option<u32>,

    /// Seconds after which the search ends
    #[arg(short, long, value_name = "SECONDS", help_heading = heading::LIMITS)]
    pub timeout: Option<u64>,

    /// Gigabytes that the search may use [default: four fifths of what is free]
    #[arg(short, long, visible_alias = "memout", value_name = "GB", value_parser = gigabytes, help_heading = heading::LIMITS)]
    pub memory: Option<f64>,

    /// Threads; the answer does not depend on it [default: all cores]
    #[arg(short = 'j', long, value_name = "N", value_parser = threads, hide_short_help = true, help_heading = heading::LIMITS)]
    pub threads: Option<usize>,

    /// Show all steps of a counterexample
    #[arg(long, help_heading = heading::OUTPUT)]
    pub full_trace: bool,

    #[command(flatten)]
    pub files: FileArgs,

    #[command(flatten)]
    pub distribute: DistributeArgs,

    #[command(flatten)]
    pub network: NetworkArgs,

    #[command(flatten)]
    pub format: FormatArgs,
}

impl ProveArgs {
    /// The engine that was asked for.
    pub fn engine(&self) -> &'static str {
        // Only exhaustive search goes beyond one process.
        let default = if self.is_distributed() || self.distribute.spill.is_some() {
            engine::EXPLICIT
        } else {
            engine::AUTO
        };
        self.engine.as_deref().and_then(engine::known).unwrap_or(default)
    }

    /// Whether the search goes beyond one process: to others, or to files.
    pub fn is_distributed(&self) -> bool {
        self.distribute.checkpoint.is_some() || self.distribute.cluster.cluster.is_some()
    }

    pub fn order(&self) -> Order {
        match self.order {
            OrderArg::Breadth => Order::Breadth,
            OrderArg::Depth => Order::Depth,
            OrderArg::Deepening => Order::Deepening,
        }
    }

    /// Which infinite runs count; `None` leaves liveness of these out.
    pub fn fairness(&self) -> Option<Fairness> {
        match self.fairness {
            ProveFairnessArg::Random => Some(Fairness::Random),
            ProveFairnessArg::Weak => Some(Fairness::Weak),
            ProveFairnessArg::None => None,
        }
    }
}

fn variable_bound(text: &str) -> Result<(String, u64), String> {
    let bound = text.split_once('=').and_then(|(name, most)| Some((name.to_owned(), most.parse().ok()?)));
    bound.ok_or_else(|| "write it as `Machine.variable=5`".to_owned())
}

fn reductions_help() -> String {
    let names = Reductions::NAMES.join(", ");
    format!(
        "The reductions to use, separated by commas: `all`, `none`, `default`, or names ({names}); reductions never change a verdict"
    )
}

fn reduction(text: &str) -> Result<String, String> {
    match (text, Reduction::find(text)) {
        ("all" | "none" | "default", _) => Ok(text.to_owned()),
        (_, Some(row)) => Ok(row.name.to_owned()),
        (_, None) => Err(match nearest(text, Reductions::NAMES) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("choose one of {}", Reductions::NAMES.join(", ")),
        }),
    }
}

fn engine_names() -> PossibleValuesParser {
    let auto = PossibleValue::new(engine::AUTO)
        .help("A little testing, then all engines at once; the first final answer counts");
    let engines = engine::ENGINES.iter().filter(|entry| entry.proves);
    let engines = engines.map(|entry| PossibleValue::new(entry.name).help(entry.about));
    PossibleValuesParser::new(std::iter::once(auto).chain(engines))
}

/// For `--engine symbolic`.
#[derive(clap::Args)]
pub struct SymbolicArgs {
    /// Which algorithm symbolic exploration uses
    #[arg(long = "symbolic", value_enum, value_name = "ALGORITHM", default_value = "sets", hide_short_help = true, help_heading = SYMBOLIC)]
    pub algorithm: AlgorithmArg,

    /// Find a shortest counterexample, whatever it costs
    #[arg(long, hide_short_help = true, help_heading = SYMBOLIC)]
    pub shortest: bool,

    /// Show the order of machines, monitors and networks in the decision diagrams
    #[arg(long, hide_short_help = true, help_heading = SYMBOLIC)]
    pub show_order: bool,

    /// At the end of a proof, show what always holds: in each control state of each machine, the values of small variables and the
    /// control states of others
    #[arg(long, hide_short_help = true, help_heading = SYMBOLIC)]
    pub show_invariants: bool,

    /// Check that this holds in every configuration, such as `forall (c: Client) :: c is Waiting ==> Server.busy`
    /// (repeatable)
    #[arg(long, value_name = "CONDITION", hide_short_help = true, help_heading = SYMBOLIC)]
    pub invariant: Vec<String>,

    /// Steps to leave out, separated by commas, or `all`; `left-movers` and `symmetry` go by `[filters]` in `allways.toml`
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',', hide_short_help = true, help_heading = SYMBOLIC)]
    pub filters: Vec<FilterArg>,

    /// Search without the filters, too, and say whether they lose something
    #[arg(long, hide_short_help = true, help_heading = SYMBOLIC)]
    pub check_filters: bool,

    /// Which machines and monitors take several levels of the diagrams: control state, inbox, each variable
    #[arg(long, value_enum, value_name = "WHICH", default_value = "large", hide_short_help = true, help_heading = SYMBOLIC)]
    pub split: SplitArg,
}

/// Which algorithm symbolic exploration uses.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AlgorithmArg {
    /// Sets of configurations in decision diagrams, by saturation
    Sets,
    /// As published (Psym): one configuration of value summaries; networks `inbox` and `fifo`; does not check liveness
    Paper,
}

/// Steps that are left out.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FilterArg {
    /// All other steps, where a message of one of these events can be delivered
    LeftMovers,
    /// Of machines of these kinds that look alike, the steps of all but one; with `--symbolic paper`
    Symmetry,
    /// Of orders of independent steps, all but one (monotonic partial-order reduction); with `--symbolic paper`
    Monotonic,
    /// Messages that were sent after another of the same machine (PRED); with `--symbolic paper` over network `fifo`
    SendOrder,
    /// All that apply
    All,
}

/// Which machines and monitors are split.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SplitArg {
    /// Those with more than 200,000 local states
    Large,
    /// None
    Never,
    /// All
    Always,
}

/// For `--engine asi`.
#[derive(clap::Args)]
pub struct AlmostSyncArgs {
    /// Which sends are explored first
    #[arg(long, value_enum, value_name = "RULE", default_value_t = DestinationArg::LeastWaiting, hide_short_help = true, help_heading = ALMOST_SYNC)]
    pub destination: DestinationArg,

    /// Beyond how many messages an inbox is over-approximated: `auto`, `off` or a number
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = flood_rule, hide_short_help = true, help_heading = ALMOST_SYNC)]
    pub flood: FloodRule,

    /// Do not use sleep sets; the verdict is the same
    #[arg(long, hide_short_help = true, help_heading = ALMOST_SYNC)]
    pub no_sleep_sets: bool,

    /// Write the proof for `allways certify`
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = ALMOST_SYNC)]
    pub certificate: Option<PathBuf>,

    /// Give up after this many states
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = ALMOST_SYNC)]
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
    /// 64 bits of each; a note names the probability of a hash collision
    Fingerprint,
    /// 128 bits of each
    Wide,
    /// All of each; no configuration can be missed
    Exact,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProveFairnessArg {
    /// Those that random scheduling produces
    Random,
    /// Those in which every machine that can always step does; `$` is free, `$$` is fair
    Weak,
    /// None: liveness on infinite runs is not checked
    None,
}

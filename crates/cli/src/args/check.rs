//! Options of `check`.

use std::path::PathBuf;

use allways_explore::StrategyKind;
use clap::ValueEnum;

use super::{
    BoogieArgs, ClusterArgs, FileArgs, FormatArgs, InputArgs, NetworkArgs, TestArgs, compat, gigabytes,
    heading, threads,
};

/// Schedules that are run when nothing is said.
pub const DEFAULT_SCHEDULES: u64 = 10_000;

#[derive(clap::Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub tests: TestArgs,

    /// Every test, compared with what `allways.toml` expects, as one table
    #[arg(long, help_heading = heading::TESTS)]
    pub all: bool,

    /// List the test cases
    #[arg(long, help_heading = heading::TESTS)]
    pub list_tests: bool,

    /// How many schedules; 0 is no limit [default: 10000, or no limit with --timeout]
    #[arg(short, long, visible_alias = "iterations", short_alias = 'i', value_name = "N", help_heading = heading::LIMITS)]
    pub schedules: Option<u64>,

    /// Seconds after which testing ends [default for Boogie files: 30]
    #[arg(short, long, value_name = "SECONDS", help_heading = heading::LIMITS)]
    pub timeout: Option<u64>,

    /// Gigabytes that testing may use [default: four fifths of what is free]
    #[arg(short, long, visible_alias = "memout", value_name = "GB", value_parser = gigabytes, hide_short_help = true, help_heading = heading::LIMITS)]
    pub memory: Option<f64>,

    /// Steps of a schedule under unfair strategies, then under fair ones (10 times as many); 0 is no bound [-ms]
    #[arg(long, value_name = "N", num_args = 1..=2, hide_short_help = true, help_heading = heading::LIMITS)]
    pub max_steps: Vec<u64>,

    /// Report a schedule that reaches the bound as a violation (under fair and eventually fair strategies)
    #[arg(long, hide_short_help = true, help_heading = heading::LIMITS)]
    pub fail_on_maxsteps: bool,

    /// Threads; the answer does not depend on it [default: all cores]
    #[arg(short = 'j', long, value_name = "N", value_parser = threads, hide_short_help = true, help_heading = heading::LIMITS)]
    pub threads: Option<usize>,

    /// The seed; the same seed and options give the same answer
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = heading::SEARCH)]
    pub seed: u64,

    /// Go on after a violation, and show one for each place
    #[arg(long, help_heading = heading::SEARCH)]
    pub explore: bool,

    #[command(flatten)]
    pub strategies: StrategyArgs,

    /// Which infinite runs count for liveness
    #[arg(long, value_enum, value_name = "KIND", default_value_t = FairnessArg::Random, hide_short_help = true, help_heading = heading::SEARCH)]
    pub fairness: FairnessArg,

    /// Show a counterexample as it was found
    #[arg(long, hide_short_help = true, help_heading = heading::OUTPUT)]
    pub no_shrink: bool,

    /// Show all steps of a counterexample
    #[arg(long, help_heading = heading::OUTPUT)]
    pub full_trace: bool,

    /// Show which handlers never ran
    #[arg(long, help_heading = heading::OUTPUT)]
    pub coverage: bool,

    #[command(flatten)]
    pub files: FileArgs,

    /// Run a schedule file again instead
    #[arg(short, long, value_name = "FILE", hide_short_help = true, help_heading = heading::SEARCH)]
    pub replay: Option<PathBuf>,

    #[command(flatten)]
    pub format: FormatArgs,

    #[command(flatten)]
    pub network: NetworkArgs,

    #[command(flatten)]
    pub cluster: ClusterArgs,

    /// Show the options for Boogie files
    #[arg(long, action = clap::ArgAction::HelpLong, hide_short_help = true)]
    pub help_boogie: Option<bool>,

    #[command(flatten)]
    pub boogie: BoogieArgs,

    #[command(flatten)]
    pub compat: compat::CheckCompatArgs,
}

/// At most one strategy; without any, a portfolio of all.
#[derive(clap::Args)]
#[group(multiple = false)]
pub struct StrategyArgs {
    /// Choose at random
    #[arg(long, hide_short_help = true, help_heading = heading::STRATEGIES)]
    pub sch_random: bool,
    /// Stay on a machine, leave it with probability 1 / 2^N [-sp]
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = heading::STRATEGIES)]
    pub sch_probabilistic: Option<u32>,
    /// Random priorities with N changes (PCT)
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = heading::STRATEGIES)]
    pub sch_pct: Option<u32>,
    /// The same, then at random, which is fair
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = heading::STRATEGIES)]
    pub sch_fairpct: Option<u32>,
    /// Partial-order sampling
    #[arg(long, hide_short_help = true, help_heading = heading::STRATEGIES)]
    pub sch_pos: bool,
    /// Round robin with at most N delays
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = heading::STRATEGIES)]
    pub sch_delay: Option<u32>,
    /// All schedules, depth first
    #[arg(long, hide_short_help = true, help_heading = heading::STRATEGIES)]
    pub sch_dfs: bool,
    // Those of `p` that do not exist here; see `note`.
    #[arg(long, hide = true)]
    pub sch_feedback: bool,
    #[arg(long, hide = true, value_name = "N")]
    pub sch_feedbackpct: Option<u32>,
    #[arg(long, hide = true)]
    pub sch_feedbackpos: bool,
    #[arg(long, hide = true)]
    pub sch_rl: bool,
    #[arg(long, hide = true, value_name = "NAME")]
    pub sch_pex: Option<String>,
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
            || self.sch_pex.is_some()
    }

    /// What is done instead of a strategy that does not exist here.
    pub fn note(&self) -> Option<&'static str> {
        if self.sch_feedback {
            Some("there is no `--sch-feedback`: a portfolio of all strategies runs instead")
        } else if self.sch_rl {
            Some("there is no `--sch-rl`: a portfolio of all strategies runs instead")
        } else if self.sch_pex.is_some() {
            Some("there is no `--sch-pex`: a portfolio of all strategies runs instead")
        } else if self.sch_feedbackpct.is_some() {
            Some("there is no `--sch-feedbackpct`: `--sch-pct` runs instead")
        } else if self.sch_feedbackpos {
            Some("there is no `--sch-feedbackpos`: `--sch-pos` runs instead")
        } else {
            None
        }
    }

    pub fn kind(&self) -> StrategyKind {
        if self.sch_random {
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
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FairnessArg {
    /// Those that random scheduling produces
    Random,
    /// Those in which every machine that can always step does; `$` is free, `$$` is fair
    Weak,
}

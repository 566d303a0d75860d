//! Strategies: which machine steps next, and how data choices are resolved.
//!
//! A strategy is an oracle that is asked at choice points; the run is the list of its answers. It sees machines, and the
//! channels of a network that delays messages, by their *places*, that is by order of appearance in the present run. To a
//! strategy a channel is one more machine, whose steps bring its messages. Places depend on the run alone, while
//! instance ids depend on what the process ran before, so a strategy that depends on places only is deterministic.
//!
//! Crashes are not among the places: sampled at every step they would come long before anything is worth breaking. They
//! come as `crash::Crashes` plans them, but for the enumeration, which tries each everywhere.
//!
//! One strategy per file: [`random`], [`probabilistic`], [`pct`] (priorities), [`pos`] (partial-order
//! sampling), [`delay`] (delay bounding), [`depth_first`]; [`fair_suffix`] ends the runs of an unfair one fairly. The portfolio is not a strategy but a table of them, see
//! [`StrategyKind::of_schedule`]. To follow a given schedule there is `allways_machine::replay`.

pub mod delay;
pub mod depth_first;
pub mod fair_suffix;
pub mod pct;
pub mod pos;
pub mod probabilistic;
pub mod random;

use allways_machine::{DataPoint, Kernel, Oracle};

pub use delay::DelayBounding;
pub use depth_first::DepthFirst;
pub use fair_suffix::FairSuffix;
pub use pct::Pct;
pub use pos::Pos;
pub use probabilistic::Probabilistic;
pub use random::Random;

/// What a strategy knows when a schedule begins.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Of this schedule.
    pub seed: u64,
    /// How many choices a schedule is thought to have; one at least.
    pub length: u64,
    /// For how many choices a strategy with a fair suffix is unfair.
    pub n_unfair: u64,
}

/// An oracle for one schedule after the other.
pub trait Strategy: Send {
    /// Prepares for the next schedule. `false` says that there is none left, which only enumerations do.
    fn begin(&mut self, plan: &Plan) -> bool;

    /// The place of an enabled move. The kernel is running, so there is one.
    fn place(&mut self, kernel: &Kernel) -> usize;

    /// Which of several messages of a channel arrives, below `n`.
    fn pick(&mut self, n: u32) -> u32;

    /// Whether it enumerates crashes too; then [`Strategy::crash`] is asked first at every step.
    fn enumerates_crashes(&self) -> bool {
        false
    }

    /// Which of `n` machines crashes next, if any.
    fn crash(&mut self, _n: u32) -> Option<u32> {
        None
    }

    /// The answer to a data choice.
    fn answer(&mut self, point: DataPoint) -> u32;
}

/// Lets the kernel ask a strategy.
pub(crate) struct Asked<'a>(pub &'a mut dyn Strategy);

impl Oracle for Asked<'_> {
    #[inline]
    fn answer(&mut self, point: DataPoint) -> u32 {
        self.0.answer(point)
    }
}

/// The strategies by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StrategyKind {
    /// Schedule by schedule another of the others.
    Portfolio,
    Random,
    /// Leaves the present machine with probability 1 / 2^n.
    Probabilistic(u32),
    /// So many priority changes.
    Pct(u32),
    /// The same up to the unfair step bound, then random.
    FairPct(u32),
    Pos,
    /// The same up to the unfair step bound, then random.
    FairPos,
    /// So many delays.
    DelayBounding(u32),
    /// The same up to the unfair step bound, then random.
    FairDelayBounding(u32),
    /// All schedules.
    DepthFirst,
}

/// What the portfolio does, by schedule number. Half of it is random: it is the only one that suspects nothing, and
/// fair from the first step. The rest go where random walks rarely come: few preemptions, starvation, racing deliveries.
/// All end fairly, so that a run in which a machine waits for a starved one still ends.
const PORTFOLIO: [StrategyKind; 12] = [
    StrategyKind::Random,
    StrategyKind::FairPct(2),
    StrategyKind::Random,
    StrategyKind::FairPos,
    StrategyKind::Random,
    StrategyKind::Probabilistic(3),
    StrategyKind::Random,
    StrategyKind::FairDelayBounding(2),
    StrategyKind::Random,
    StrategyKind::FairPct(5),
    StrategyKind::Random,
    StrategyKind::FairDelayBounding(5),
];

/// The rarest change of machine, 1 / 2^n, with which [`StrategyKind::Probabilistic`] counts as fair: about a hundred changes
/// within the step bound that is the default.
const MAX_FAIR_PROBABILISTIC: u32 = 10;

impl StrategyKind {
    /// What a schedule uses when the options name `self`.
    pub fn of_schedule(self, index: u64) -> StrategyKind {
        match self {
            StrategyKind::Portfolio => PORTFOLIO[(index % PORTFOLIO.len() as u64) as usize],
            other => other,
        }
    }

    /// From which point on every machine that can step is likely to within few steps.
    pub fn fairness(self) -> ScheduleFairness {
        match self {
            StrategyKind::Random => ScheduleFairness::Always,
            StrategyKind::Probabilistic(n) if n <= MAX_FAIR_PROBABILISTIC => ScheduleFairness::Always,
            StrategyKind::FairPct(_) | StrategyKind::FairPos | StrategyKind::FairDelayBounding(_) => {
                ScheduleFairness::Suffix
            }
            StrategyKind::Probabilistic(_)
            | StrategyKind::Pct(_)
            | StrategyKind::Pos
            | StrategyKind::DelayBounding(_)
            | StrategyKind::DepthFirst => ScheduleFairness::Never,
            // Each of its members is fair in the end.
            StrategyKind::Portfolio => ScheduleFairness::Suffix,
        }
    }

    /// The strategy; of the portfolio, its first.
    pub fn make(self) -> Box<dyn Strategy> {
        match self {
            StrategyKind::Random | StrategyKind::Portfolio => Box::new(Random::default()),
            StrategyKind::Probabilistic(n) => Box::new(Probabilistic::new(n)),
            StrategyKind::Pct(n) => Box::new(Pct::new(n)),
            StrategyKind::FairPct(n) => Box::new(FairSuffix::new(Pct::new(n))),
            StrategyKind::Pos => Box::new(Pos::default()),
            StrategyKind::FairPos => Box::new(FairSuffix::new(Pos::default())),
            StrategyKind::DelayBounding(n) => Box::new(DelayBounding::new(n)),
            StrategyKind::FairDelayBounding(n) => Box::new(FairSuffix::new(DelayBounding::new(n))),
            StrategyKind::DepthFirst => Box::new(DepthFirst::default()),
        }
    }
}

/// Which part of a schedule is fair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScheduleFairness {
    Always,
    /// After an unfair prefix.
    Suffix,
    Never,
}

impl std::fmt::Display for StrategyKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StrategyKind::Portfolio => f.write_str("portfolio"),
            StrategyKind::Random => f.write_str("random"),
            StrategyKind::Probabilistic(n) => write!(f, "probabilistic({n})"),
            StrategyKind::Pct(n) => write!(f, "pct({n})"),
            StrategyKind::FairPct(n) => write!(f, "fair-pct({n})"),
            StrategyKind::Pos => f.write_str("pos"),
            StrategyKind::FairPos => f.write_str("fair-pos"),
            StrategyKind::DelayBounding(n) => write!(f, "delay-bounding({n})"),
            StrategyKind::FairDelayBounding(n) => write!(f, "fair-delay-bounding({n})"),
            StrategyKind::DepthFirst => f.write_str("depth-first"),
        }
    }
}

/// The place of the `n`-th enabled move. `n` is below the number of these.
#[inline]
pub(crate) fn nth_place(kernel: &Kernel, n: u64) -> usize {
    kernel.enabled_set().nth(n as usize).unwrap_or(0)
}

/// Random places in a schedule of about this length, in order; the same place can come twice.
pub(crate) fn draw_points(rng: &mut super::rng::Rng, n: u32, length: u64, points: &mut Vec<u64>) {
    points.clear();
    points.extend((0..n).map(|_| rng.below(length)));
    points.sort_unstable();
}

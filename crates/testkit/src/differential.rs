//! The oracle and the kernel on one program.

use std::collections::{BTreeMap, BTreeSet};

use allways_machine::Executable;
use allways_p::hir::{EventId, MachineKind, Program};
use allways_run::{NetworkModel, NetworkOptions};

use crate::generate::broadcasts::broadcasts;
use crate::generate::carrier::carrier;
use crate::generate::circle::circle;
use crate::generate::counting::counting;
use crate::generate::echoes::echoes;
use crate::generate::ledger::ledger;
use crate::generate::liveness_cycles::liveness_cycles;
use crate::generate::races::races;
use crate::generate::workers::workers;
use crate::generate::{Profile, generate, generate_any};
use crate::oracle::{self, OracleOptions};
use crate::random::Random;
use crate::view::{At, Scene};
use crate::{Loaded, Summary, search};

/// How a comparison ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Comparison {
    Agree,
    Differ(String),
    /// Too many configurations to say.
    TooLarge,
}

/// Both summaries of one test and how they compare.
pub struct Compared {
    pub oracle: Summary,
    pub kernel: Summary,
    pub comparison: Comparison,
}

/// Enumerates a test twice and compares.
pub fn compare(loaded: &Loaded, test_idx: usize, options: OracleOptions) -> Compared {
    compare_over(loaded, test_idx, options, &NetworkOptions::default())
}

/// The same over some network.
pub fn compare_over(
    loaded: &Loaded,
    test_idx: usize,
    options: OracleOptions,
    network: &NetworkOptions,
) -> Compared {
    // The kernel has them where a run may depend on them.
    let exact_texts = Executable::new(&loaded.program, test_idx).observed_text.is_some();
    let options = OracleOptions { exact_texts, ..options };
    let oracle = oracle::explore_over(&loaded.program, test_idx, options, network);
    if oracle.bound_hit {
        return Compared { oracle, kernel: Summary::default(), comparison: Comparison::TooLarge };
    }
    // The kernel never needs more configurations than the oracle has; the margin is for the initial one.
    let max_configurations = 2 * options.max_configurations;
    let kernel = search::explore_over(&loaded.program, test_idx, max_configurations, network);
    let scene = Scene { program: &loaded.program, sources: &loaded.sources };
    let comparison = match oracle.difference(&kernel, ["oracle", "kernel"], &scene) {
        Some(difference) => Comparison::Differ(difference),
        None if kernel.bound_hit => Comparison::Differ("the kernel's search does not end".into()),
        None => Comparison::Agree,
    };
    Compared { oracle, kernel, comparison }
}

/// What a series of random programs was worth.
#[derive(Clone, Default, Debug)]
pub struct Statistics {
    pub n_programs: usize,
    pub n_too_large: usize,
    pub n_violated: usize,
    pub n_oracle_configurations: usize,
    pub n_kernel_configurations: usize,
    /// Programs that break a property of this kind.
    pub kinds: BTreeMap<&'static str, usize>,
    /// Programs in which this was seen to happen.
    pub features: BTreeMap<&'static str, usize>,
}

impl Statistics {
    /// Counts a program that was compared.
    pub fn add(&mut self, compared: &Compared) {
        self.n_programs += 1;
        if compared.comparison == Comparison::TooLarge {
            self.n_too_large += 1;
            return;
        }
        let summary = &compared.oracle;
        self.n_oracle_configurations += summary.n_configurations;
        self.n_kernel_configurations += compared.kernel.n_configurations;
        self.n_violated += summary.is_violated() as usize;
        let kinds: BTreeSet<&str> = summary.violations.iter().map(|(kind, _)| kind.as_str()).collect();
        for kind in kinds {
            *self.kinds.entry(kind).or_default() += 1;
        }
        let has = |is_it: fn(&At) -> bool| summary.locals.iter().any(|view| is_it(&view.at));
        let features = [
            ("several machines", summary.locals.iter().any(|view| !view.path.is_empty())),
            ("machine made by a made one", summary.locals.iter().any(|view| view.path.len() > 1)),
            ("deferred at rest", has(|at| matches!(at, At::Idle { inbox } if !inbox.is_empty()))),
            ("blocked in receive", has(|at| matches!(at, At::Blocked { .. }))),
            (
                "receive in a called function",
                has(|at| matches!(at, At::Blocked { calls, .. } if calls.len() > 1)),
            ),
            ("halted", has(|at| *at == At::Halted)),
            ("monitor moved", summary.monitors.len() > 1),
            ("several ends", summary.quiescent.len() > 1),
        ];
        for (feature, seen) in features {
            *self.features.entry(feature).or_default() += seen as usize;
        }
    }

    /// The part of a whole in percent.
    pub fn share(&self, n: usize) -> usize {
        100 * n / (self.n_programs - self.n_too_large).max(1)
    }
}

/// One kind of program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Only {
    Profile(&'static Profile),
    Ledgers,
    Broadcasts,
    LivenessCycles,
    Races,
    Workers,
    Carriers,
    Echoes,
    Counting,
}

/// Which network random programs run over.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Over {
    pub model: NetworkModel,
    /// With events that are lossy or duplicating, or a machine that crashes, at random.
    pub faults: bool,
    /// Programs of this kind only, rather than of all in turn.
    pub only: Option<Only>,
}

/// The program of a seed. Every fifth is about what is read of nested values, every tenth about the order of broadcasts, every twentieth about which
/// comes first, and another twentieth goes round for ever; where messages can overtake each other, every third is made to show that.
pub fn program_of(seed: u64, over: Over) -> String {
    match over.only {
        Some(Only::Profile(profile)) => generate(seed, profile),
        Some(Only::Ledgers) => ledger(seed),
        Some(Only::Broadcasts) => broadcasts(seed),
        Some(Only::LivenessCycles) => liveness_cycles(seed),
        Some(Only::Races) => races(seed),
        Some(Only::Workers) => workers(seed),
        Some(Only::Carriers) => carrier(seed),
        Some(Only::Echoes) => echoes(seed),
        Some(Only::Counting) => counting(seed),
        None if over.model != NetworkModel::Inbox && seed.is_multiple_of(3) => circle(seed),
        None if seed % 5 == 2 => ledger(seed),
        None if seed % 10 == 4 => broadcasts(seed),
        None if seed % 20 == 9 => liveness_cycles(seed),
        // Kinds come in turn.
        None if seed % 20 == 19 => races(seed / 20),
        None if seed % 40 == 16 => carrier(seed / 40),
        None if seed % 40 == 36 => echoes(seed / 40),
        None if seed % 20 == 11 => counting(seed / 20),
        None => generate_any(seed).0,
    }
}

/// Compares a random program.
pub fn compare_seed(seed: u64, over: Over, options: OracleOptions) -> (String, Compared) {
    let text = program_of(seed, over);
    let loaded = Loaded::new("random.p", &text).unwrap_or_else(|messages| panic!("seed {seed}: {messages}"));
    let compared = compare_over(&loaded, 0, options, &network_of(&loaded.program, seed, over));
    (text, compared)
}

/// The network of a random program: faults are drawn from its seed.
pub fn network_of(program: &Program, seed: u64, over: Over) -> NetworkOptions {
    let mut network = NetworkOptions { model: over.model, ..NetworkOptions::default() };
    if !over.faults {
        return network;
    }
    let mut random = Random::new(seed ^ 0x5eed_fa17);
    let events: Vec<&str> = program
        .events
        .ids()
        .filter(|&event| event != EventId::NULL)
        .map(|event| program.name(program.events[event].name))
        .collect();
    let machines: Vec<&str> = program
        .machines
        .iter()
        .filter(|machine| machine.kind == MachineKind::Machine)
        .map(|machine| program.name(machine.name))
        .collect();
    // One kind of fault most of the time, so that programs stay small, and sometimes all.
    let which = random.below(4);
    for (kind, list) in [&mut network.lossy, &mut network.duplicating].into_iter().enumerate() {
        if which == kind || which == 3 {
            list.push(events[random.below(events.len())].to_owned());
        }
    }
    if which >= 2 {
        network.crash.push(machines[random.below(machines.len())].to_owned());
    }
    network
}

/// Makes a program on which the two differ as small as lines can be left out.
pub fn shrink_difference(text: &str, network: &NetworkOptions, options: OracleOptions) -> String {
    crate::case::shrunk(text, |loaded| {
        // A name of the network that went away is not a difference.
        Executable::new(&loaded.program, 0).with_network(network).ok()?;
        Some(matches!(compare_over(loaded, 0, options, network).comparison, Comparison::Differ(_)))
    })
}

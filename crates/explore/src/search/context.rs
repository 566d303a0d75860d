//! What all searches share: the question and its resources ([`Context`]), how a search ended, and the figures that add up.

use std::sync::Mutex;

use allways_run::{Cancel, Observer, Progress, StopReason};

use super::distribute::record::Record;
use super::expand::Expander;
use super::growth::Clock;
use super::local::memo::Memo;
use super::local::states::{Cut, LocalStates};
use super::options::ProveOptions;
use super::reduce::canonical::Canonicalizer;
use super::reduce::persistent::{PersistentSets, Reach};
use super::reduce::symmetry::Symmetry;
use super::survey::Notes;

/// What every search needs.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub options: &'a ProveOptions,
    /// Everything that decides what is explored, besides the program, for checkpoints and other processes.
    pub label: &'a str,
    pub locals: &'a Mutex<LocalStates<'a>>,
    /// Names of machines are pure, and the options ask for symmetry.
    pub is_symmetric: bool,
    /// Machines that can never act again leave the configuration.
    pub collects_garbage: bool,
    /// Counters are renumbered.
    pub renumbers: bool,
    /// For persistent sets, where they are used.
    pub reach: Option<&'a Reach>,
    /// Where to record what is reached, if that is asked for.
    pub notes: Option<&'a Notes>,
    pub observer: &'a dyn Observer,
    pub cancel: &'a dyn Cancel,
}

impl<'a> Context<'a> {
    /// That of a search that replaces no configuration by another and records nothing.
    pub fn plain(
        options: &'a ProveOptions,
        locals: &'a Mutex<LocalStates<'a>>,
        observer: &'a dyn Observer,
        cancel: &'a dyn Cancel,
    ) -> Self {
        Context {
            options,
            label: "",
            locals,
            is_symmetric: false,
            collects_garbage: false,
            renumbers: false,
            reach: None,
            notes: None,
            observer,
            cancel,
        }
    }

    pub fn expander(&self) -> Expander<'a> {
        Expander::new(Memo::new(self.locals), self.options.bounds.machines)
    }

    /// What replaces configurations by representatives, if something does.
    pub fn canonicalizer(&self) -> Option<Canonicalizer<'a>> {
        Canonicalizer::new(self.symmetry(), self.locals, self.renumbers)
    }

    /// What permutes machines and leaves some out, if something does.
    pub fn symmetry(&self) -> Option<Symmetry<'a>> {
        match self.collects_garbage {
            true => Some(Symmetry::collecting(self.locals, self.is_symmetric, self.notes)),
            false => self.is_symmetric.then(|| Symmetry::new(self.locals)),
        }
    }

    /// Whether a configuration may have other names of machines or other numbers than the run that leads there.
    pub fn has_representatives(&self) -> bool {
        self.is_symmetric || self.collects_garbage || self.renumbers
    }

    /// Whether steps are merged with what comes first after them, so that a run has more steps than layers; or faults are not steps.
    pub fn merges_steps(&self) -> bool {
        self.has_confluent_sends() || self.compresses_paths() || self.has_lazy_faults()
    }

    pub fn has_confluent_sends(&self) -> bool {
        self.options.reductions.confluent_sends
    }

    pub fn has_lazy_faults(&self) -> bool {
        self.options.reductions.lazy_faults
    }

    pub fn compresses_paths(&self) -> bool {
        self.options.reductions.path_compression && self.reach.is_some()
    }

    pub fn persistent_sets(&self) -> Option<PersistentSets<'a>> {
        self.reach.map(|reach| PersistentSets::new(self.locals, reach))
    }

    pub fn stop_reason(&self) -> Option<StopReason> {
        // Then all of it is done again, in another form.
        let is_futile = || self.locals.try_lock().is_ok_and(|locals| locals.lacks_broadcast_precondition());
        self.cancel.reason().or_else(|| is_futile().then_some(StopReason::Interrupted))
    }

    /// Tells how far the search for infinite runs has come.
    pub fn looks_at_liveness(&self, n_configurations: u64) {
        let n_configurations = Some(n_configurations);
        let progress = Progress { phase: Some("liveness"), n_configurations, ..Progress::default() };
        self.observer.progress(&progress);
    }

    /// Whether so many bytes are too many.
    pub fn is_over(&self, bytes: u64) -> Option<StopReason> {
        let limit = self.options.limits.memory_bytes?;
        (bytes > limit).then_some(StopReason::Memory { bytes: limit })
    }
}

/// How a search ended.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum SearchEnd {
    Exhausted,
    /// Some run of so many steps violates a property.
    Broken {
        depth: u64,
    },
    Stopped(StopReason),
}

/// What a search saw.
pub(crate) struct Explored {
    pub end: SearchEnd,
    pub tally: Tally,
    pub depth: u64,
    /// Every run of so many steps was explored, whether or not the search came to its end.
    pub n_covered: u64,
    /// Why some step cannot be known.
    pub unknown: Option<StopReason>,
    pub n_lookups: u64,
    pub n_misses: u64,
    pub store_bytes: u64,
    pub peak_bytes: u64,
    pub clock: Clock,
    /// What several processes, or a process and a checkpoint, have noted together; the tally is of this process alone then.
    pub record: Option<Box<Record>>,
}

impl Explored {
    /// Before anything is explored.
    pub fn nothing(end: SearchEnd) -> Self {
        Explored {
            end,
            tally: Tally::default(),
            depth: 0,
            n_covered: 0,
            unknown: None,
            n_lookups: 0,
            n_misses: 0,
            store_bytes: 0,
            peak_bytes: 0,
            clock: Clock::default(),
            record: None,
        }
    }
}

/// Figures that add up.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Tally {
    pub n_configurations: u64,
    pub n_transitions: u64,
    pub n_ends: u64,
    pub n_machines: u32,
    /// See `ProveStatistics`.
    pub n_persistent: u64,
    pub n_put_off: u64,
    pub n_merged: u64,
    pub n_stuttering: u64,
    pub n_renamed: u64,
    pub n_collected: u64,
    pub n_renumbered: u64,
    pub cuts: Cuts,
    /// A step breaks a property; a configuration that is terminal does.
    pub breaks: bool,
    pub ends_badly: bool,
}

/// Which bounds cut something off.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Cuts(u8);

impl Cuts {
    pub fn add(&mut self, cut: Cut) {
        self.0 |= 1 << cut as u8;
    }

    pub fn has(self, cut: Cut) -> bool {
        self.0 >> cut as u8 & 1 == 1
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn bits(self) -> u8 {
        self.0
    }

    pub fn from_bits(bits: u8) -> Self {
        Cuts(bits)
    }

    pub fn join(&mut self, other: Cuts) {
        self.0 |= other.0;
    }
}

impl Tally {
    /// Before vectors that will be expanded again. What was found stays found.
    pub fn go_back(&mut self, known: &Tally) {
        let Tally { n_configurations, n_machines, cuts, breaks, ends_badly, .. } = *self;
        *self = Tally { n_configurations, n_machines, cuts, breaks, ends_badly, ..*known };
    }

    pub fn add(&mut self, other: &Tally) {
        // Another process may say anything.
        let add = |into: &mut u64, more: u64| *into = into.saturating_add(more);
        add(&mut self.n_configurations, other.n_configurations);
        add(&mut self.n_transitions, other.n_transitions);
        add(&mut self.n_ends, other.n_ends);
        add(&mut self.n_persistent, other.n_persistent);
        add(&mut self.n_put_off, other.n_put_off);
        add(&mut self.n_merged, other.n_merged);
        add(&mut self.n_stuttering, other.n_stuttering);
        add(&mut self.n_renamed, other.n_renamed);
        add(&mut self.n_collected, other.n_collected);
        add(&mut self.n_renumbered, other.n_renumbered);
        self.n_machines = self.n_machines.max(other.n_machines);
        self.cuts.join(other.cuts);
        self.breaks |= other.breaks;
        self.ends_badly |= other.ends_badly;
    }
}

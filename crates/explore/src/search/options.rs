//! What can be asked of a proof.

use std::sync::Arc;

use allways_machine::{DataPlan, Executable};
use allways_run::{Limits, NetworkModel};

use super::reduce::confluent_sends::ConfluentSends;
use super::reduce::lazy_faults;
use super::variables::VariableBounds;
use crate::liveness::Fairness;

/// In which order configurations are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Order {
    /// Layer by layer, on all threads; counterexamples are shortest.
    #[default]
    Breadth,
    /// One thread, little memory besides the store; counterexamples are long.
    Depth,
    /// Depth first to a depth that doubles each time; counterexamples are at most twice too long.
    Deepening,
}

/// How configurations that were seen are kept.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum StoreKind {
    /// 64 bits of each. Two may share them, with the chance that the verdict names.
    #[default]
    Fingerprint,
    /// 128 bits of each: twice the memory, and a chance that hardly needs a name.
    Wide,
    /// All of each, as pairs of pairs. Nothing is omitted.
    Exact,
}

/// What is not looked at. A bound that cuts something off shows in the verdict.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SearchBounds {
    /// Steps from the beginning.
    pub depth: Option<u64>,
    /// Messages that wait in one inbox.
    pub inbox: Option<u32>,
    /// Messages of one event that wait in one inbox.
    pub occurrences: Option<u32>,
    /// Machines, halted ones included.
    pub machines: Option<u32>,
    /// What variables of machines hold.
    pub variables: VariableBounds,
}

/// What need not be looked at or told apart; see `search/reduce`. None changes a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reductions {
    /// Registers and fields that are not read again count as null, and so do parts of them that nobody reads.
    pub dead_variables: bool,
    /// Payloads of waiting messages that nobody will take, and parts of them that nobody reads, count as null.
    pub unread_payloads: bool,
    /// Collections whose order nobody sees have none, also inside other values.
    pub collection_order: bool,
    /// So have those of which the order only decides who is told first, where nobody can tell. With the former, over P's own
    /// network, for breadth-first searches without bounds that leave infinite runs out.
    pub broadcasts: bool,
    /// Configurations that differ by a permutation of machines made alike are one.
    pub symmetry: bool,
    /// Steps that are in conflict with nothing that others may ever do go first, alone. For searches without bounds.
    pub persistent_sets: bool,
    /// A machine that steps first, alone, goes on as long as it may, and configurations between are not stored. With
    /// persistent sets, for breadth-first searches.
    pub path_compression: bool,
    /// Steps that change nothing are not looked at.
    pub timer_stutter: bool,
    /// Over networks that delay messages sends go first, alone, then arrivals of what is ignored for good. For breadth-first
    /// searches without bounds; where there are faults, these have to be late.
    pub confluent_sends: bool,
    /// What a fault does is decided when it shows: a message may be lost for as long as it is on its way, and who has crashed
    /// just does not step. For breadth-first searches without bounds.
    pub lazy_faults: bool,
    /// Answers of `choose` that no operation of the program tells apart are represented by one.
    pub data_independence: bool,
}

impl Reductions {
    pub const NONE: Reductions = Reductions {
        dead_variables: false,
        unread_payloads: false,
        collection_order: false,
        broadcasts: false,
        symmetry: false,
        persistent_sets: false,
        path_compression: false,
        timer_stutter: false,
        confluent_sends: false,
        lazy_faults: false,
        data_independence: false,
    };
    pub const ALL: Reductions = Reductions {
        dead_variables: true,
        unread_payloads: true,
        collection_order: true,
        broadcasts: true,
        symmetry: true,
        persistent_sets: true,
        path_compression: true,
        timer_stutter: true,
        confluent_sends: true,
        lazy_faults: true,
        data_independence: true,
    };
    /// What they are called.
    pub const NAMES: [&'static str; 11] = [
        "dead-variables",
        "unread-payloads",
        "collection-order",
        "broadcasts",
        "symmetry",
        "persistent-sets",
        "path-compression",
        "timer-stutter",
        "confluent-sends",
        "lazy-faults",
        "data-independence",
    ];

    /// The name that stands for a name as given: itself, or what replaced it since an earlier version.
    pub fn known_as(name: &str) -> Option<&'static str> {
        let name = match name {
            "chains" => "path-compression",
            "hand-overs" => "confluent-sends",
            "late-faults" => "lazy-faults",
            name => name,
        };
        Reductions::NAMES.into_iter().find(|known| *known == name)
    }

    /// The reduction of a name.
    pub fn by_name(&mut self, name: &str) -> Option<&mut bool> {
        match name {
            "dead-variables" => Some(&mut self.dead_variables),
            "unread-payloads" => Some(&mut self.unread_payloads),
            "collection-order" => Some(&mut self.collection_order),
            "broadcasts" => Some(&mut self.broadcasts),
            "symmetry" => Some(&mut self.symmetry),
            "persistent-sets" => Some(&mut self.persistent_sets),
            "path-compression" => Some(&mut self.path_compression),
            "timer-stutter" => Some(&mut self.timer_stutter),
            "confluent-sends" => Some(&mut self.confluent_sends),
            "lazy-faults" => Some(&mut self.lazy_faults),
            "data-independence" => Some(&mut self.data_independence),
            _ => None,
        }
    }

    /// Those of them that are sound for a program and its network.
    pub fn over(self, exe: &Executable) -> Reductions {
        // Texts have an order, and show names.
        let mut reductions = Reductions { symmetry: self.symmetry && !exe.usage().names_in_texts(), ..self };
        if !exe.network.is_default() {
            // Made for P's own network without faults: a crash is in conflict with every step of its machine, and what is
            // on its way cannot be renamed.
            reductions.symmetry = false;
            reductions.persistent_sets = false;
        }
        reductions.lazy_faults &= lazy_faults::are_there(exe);
        let is_sure = reductions.lazy_faults || !exe.network.has_faults();
        reductions.confluent_sends &= is_sure && ConfluentSends::are_sound(exe);
        if exe.network.model == NetworkModel::Bag {
            // Which message arrives is named by its place in the order of bytes, and these would change them.
            reductions.unread_payloads = false;
            reductions.collection_order = false;
        }
        reductions
    }

    /// The one without which a reduction does nothing.
    pub fn base_of(name: &str) -> Option<&'static str> {
        match name {
            "path-compression" => Some("persistent-sets"),
            "broadcasts" => Some("collection-order"),
            _ => None,
        }
    }

    /// One alone, with what it builds on.
    pub fn only(name: &str) -> Option<Reductions> {
        let mut reductions = Reductions::NONE;
        *reductions.by_name(name)? = true;
        if let Some(base) = Reductions::base_of(name) {
            *reductions.by_name(base)? = true;
        }
        Some(reductions)
    }
}

impl Default for Reductions {
    fn default() -> Self {
        Reductions::ALL
    }
}

#[derive(Clone, Debug)]
pub struct ProveOptions {
    pub order: Order,
    pub store: StoreKind,
    pub bounds: SearchBounds,
    /// Answers to `choose(n)` that are looked at, one at least, evenly spread from the first to the last. This leaves a program
    /// with fewer choices, to which all reductions apply, and shows in the verdict as a bound does.
    pub max_choices: Option<u32>,
    /// Which answers of `choose` represent all others. Searches find it out by themselves.
    pub data: Option<Arc<DataPlan>>,
    pub reductions: Reductions,
    /// Symmetry and persistent sets are used only where a look at the first configurations finds them worth their price.
    pub probes: bool,
    /// Which infinite runs count for liveness; `None` leaves liveness of infinite runs out.
    pub fairness: Option<Fairness>,
    /// At least one. Answer and counts do not depend on it.
    pub n_threads: usize,
    /// Of a machine's instructions and calls, and `memory_bytes` for the whole search. Time is up to [`Cancel`].
    ///
    /// [`Cancel`]: crate::Cancel
    pub limits: Limits,
}

impl Default for ProveOptions {
    fn default() -> Self {
        ProveOptions {
            order: Order::Breadth,
            store: StoreKind::Fingerprint,
            bounds: SearchBounds::default(),
            max_choices: None,
            data: None,
            reductions: Reductions::default(),
            probes: true,
            fairness: Some(Fairness::Random),
            n_threads: 1,
            limits: Limits::default(),
        }
    }
}

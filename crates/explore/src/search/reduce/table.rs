//! The table of reductions: for each its name, what it needs, what it preserves, and why it does not apply.
//!
//! Searches take from here which reductions are on, the command line why one that was named does nothing, and the documentation
//! (docs/semantics.md, section 8) is compared with the table by a test. To add a reduction, see docs/how-to/add-a-reduction.md.

use std::fmt;

use allways_machine::{Executable, Simplify};
use allways_run::{NetworkModel, NetworkOptions};

use crate::liveness::Fairness;
use crate::search::order::Order;

/// What need not be explored or distinguished; see `search/reduce`. None changes a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reductions {
    /// Registers and fields that are not read again count as null, and so do parts of them that are never read.
    pub dead_variables: bool,
    /// Payloads of waiting messages that will never be read, and parts of them that are never read, count as null.
    pub unread_payloads: bool,
    /// Collections whose order is never observed have none, also inside other values.
    pub collection_order: bool,
    /// So have those of which the order only decides the order of sends, where that order is not observable. With the former, over P's own
    /// network, for breadth-first searches without bounds that leave infinite runs out.
    pub broadcasts: bool,
    /// Configurations that differ by a permutation of machines made alike are one.
    pub symmetry: bool,
    /// Machines that can never act again leave the configuration. For searches without bounds.
    pub machine_garbage: bool,
    /// Steps that are in conflict with nothing that others may ever do go first, alone. For searches without bounds.
    pub persistent_sets: bool,
    /// A machine that steps first, alone, goes on as long as it may, and configurations between are not stored. With
    /// persistent sets, for breadth-first searches.
    pub path_compression: bool,
    /// Steps that change nothing are not explored.
    pub timer_stutter: bool,
    /// Over networks that delay messages sends go first, alone, then arrivals of what is ignored for good. For breadth-first
    /// searches without bounds; where there are faults, these have to be late.
    pub confluent_sends: bool,
    /// What a fault does is decided when it shows: a message may be lost for as long as it is on its way, and a crashed machine
    /// just does not step. For breadth-first searches without bounds.
    pub lazy_faults: bool,
    /// Answers of `choose` that no operation of the program distinguishes are represented by one.
    pub data_independence: bool,
    /// Configurations that differ by a renumbering of counters, or by what is recorded under numbers that cannot occur again, are one.
    pub counters: bool,
    /// Machines handle messages before their earlier sends are made. For symbolic exploration without bounds.
    pub eager_handling: bool,
}

impl Reductions {
    pub const NONE: Reductions = Reductions {
        dead_variables: false,
        unread_payloads: false,
        collection_order: false,
        broadcasts: false,
        symmetry: false,
        machine_garbage: false,
        persistent_sets: false,
        path_compression: false,
        timer_stutter: false,
        confluent_sends: false,
        lazy_faults: false,
        data_independence: false,
        counters: false,
        eager_handling: false,
    };
    pub const ALL: Reductions = Reductions {
        dead_variables: true,
        unread_payloads: true,
        collection_order: true,
        broadcasts: true,
        symmetry: true,
        machine_garbage: true,
        persistent_sets: true,
        path_compression: true,
        timer_stutter: true,
        confluent_sends: true,
        lazy_faults: true,
        data_independence: true,
        counters: true,
        eager_handling: true,
    };
    /// The names of all, in the order of the table.
    pub const NAMES: [&'static str; REDUCTIONS.len()] = {
        let mut names = [""; REDUCTIONS.len()];
        let mut at = 0;
        while at < names.len() {
            names[at] = REDUCTIONS[at].name;
            at += 1;
        }
        names
    };
}

impl Default for Reductions {
    fn default() -> Self {
        Reductions::ALL
    }
}

/// One reduction.
pub struct Reduction {
    pub name: &'static str,
    /// What earlier versions called it; still accepted.
    pub former_name: Option<&'static str>,
    /// The reduction without which it does nothing.
    pub base: Option<&'static str>,
    pub preserves: Preserves,
    /// Whether the almost-synchronous engine has it, too.
    pub is_local: bool,
    /// Orders of search that do not use it; with the reason, why not.
    orders: Orders,
    obstacle: fn(&Setting) -> Option<Obstacle>,
    flag: fn(&mut Reductions) -> &mut bool,
}

/// What is the same in the reduced graph. Verdicts always are; "lengths" are those of shortest counterexamples, and the meaning of
/// bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Preserves {
    pub safety: bool,
    pub terminal: Terminal,
    pub liveness_random: Liveness,
    pub liveness_weak: Liveness,
    pub lengths: bool,
}

/// Whether terminal configurations are preserved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Terminal {
    Yes,
    UpToRenaming,
    UpToGarbage,
    ExceptCrashed,
    UpToChosenNumbers,
    UpToRenumbering,
}

/// Whether liveness may be decided on the reduced graph. Where it may not, the graph for liveness is built without the reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Liveness {
    Yes,
    No,
    FullGraph,
    NotUsed,
}

/// Which orders of search use a reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Orders {
    All,
    Breadth,
    /// Breadth first; the termination check that precedes liveness uses it after a search in any order.
    BreadthAndTermination,
    BreadthAndDepth,
}

/// What decides whether reductions apply: the question and the program, as far as they are known.
#[derive(Clone, Debug)]
pub struct Setting {
    pub model: NetworkModel,
    /// Messages can be lost or duplicated, or machines can crash.
    pub has_faults: bool,
    pub has_crashes: bool,
    pub is_bounded: bool,
    /// Answers to choices, or values of variables, are bounded.
    pub bounds_data: bool,
    pub order: Order,
    pub fairness: Option<Fairness>,
    /// Infinite runs are to be checked, since some monitor has hot states.
    pub has_liveness: bool,
    /// The program makes texts of machine names, other than for messages.
    pub names_in_texts: bool,
    /// The program has numbers that it counts up and only compares.
    pub has_counters: bool,
    /// Sets of configurations are kept, by symbolic exploration.
    pub is_symbolic: bool,
}

/// Why a reduction does not apply. `Display` completes the sentence "NAME does nothing here: ...".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Obstacle {
    OtherEngine,
    SymbolicOnly,
    Network,
    Bag,
    Bounds,
    DataBounds,
    BreadthOnly,
    NotDeepening,
    WeakFairness,
    Liveness,
    NotDelayed,
    EagerFaults,
    NoFaults,
    NoCrashes,
    Crashes,
    NamesInTexts,
    NoCounters,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Obstacle::OtherEngine => "it is for `--engine explicit`",
            Obstacle::SymbolicOnly => "it is for `--engine symbolic`",
            Obstacle::Network => "it is for P's own network, without faults",
            Obstacle::Bag => "it is not for `--network bag`",
            Obstacle::Bounds => "it is for searches without bounds",
            Obstacle::DataBounds => "it is for searches without a bound on answers or variables",
            Obstacle::BreadthOnly => "it is for `--order breadth`",
            Obstacle::NotDeepening => "it is for `--order breadth` and `--order depth`",
            Obstacle::WeakFairness => "it is for `--fairness random` and `--fairness none`",
            Obstacle::Liveness => "it is for programs without hot states, or `--fairness none`",
            Obstacle::NotDelayed => "it is for `--network bag` and `--network fifo`",
            Obstacle::EagerFaults => "with faults it needs `lazy-faults`, too",
            Obstacle::NoFaults => "it is for networks with faults",
            Obstacle::NoCrashes => "over `--network inbox` it is for `--crash`",
            Obstacle::Crashes => "it is for programs whose machines do not crash",
            Obstacle::NamesInTexts => "it needs a program that does not format machine names into strings",
            Obstacle::NoCounters => "it needs a program with counters that are only incremented and compared",
        })
    }
}

/// A quotient that preserves everything.
const EVERYTHING: Preserves = Preserves {
    safety: true,
    terminal: Terminal::Yes,
    liveness_random: Liveness::Yes,
    liveness_weak: Liveness::Yes,
    lengths: true,
};

/// All reductions, in the order in which they are listed for people.
pub static REDUCTIONS: [Reduction; 14] = [
    Reduction {
        name: "dead-variables",
        former_name: None,
        base: None,
        preserves: EVERYTHING,
        is_local: true,
        orders: Orders::All,
        obstacle: |_| None,
        flag: |on| &mut on.dead_variables,
    },
    Reduction {
        name: "unread-payloads",
        former_name: None,
        base: None,
        preserves: EVERYTHING,
        is_local: true,
        orders: Orders::All,
        // Which message of a bag arrives is named by its place in the order of bytes, which this would change.
        obstacle: |setting| (setting.model == NetworkModel::Bag).then_some(Obstacle::Bag),
        flag: |on| &mut on.unread_payloads,
    },
    Reduction {
        name: "collection-order",
        former_name: None,
        base: None,
        preserves: EVERYTHING,
        is_local: true,
        orders: Orders::All,
        obstacle: |setting| (setting.model == NetworkModel::Bag).then_some(Obstacle::Bag),
        flag: |on| &mut on.collection_order,
    },
    Reduction {
        name: "broadcasts",
        former_name: None,
        base: Some("collection-order"),
        preserves: Preserves { liveness_random: Liveness::No, liveness_weak: Liveness::No, ..EVERYTHING },
        is_local: false,
        orders: Orders::Breadth,
        // The order of a broadcast changes the lengths of runs to single configurations, and single infinite runs.
        obstacle: |setting| {
            own_network(setting).or_else(|| unbounded(setting)).or_else(|| match setting.fairness {
                Some(Fairness::Weak) => Some(Obstacle::WeakFairness),
                _ => setting.has_liveness.then_some(Obstacle::Liveness),
            })
        },
        flag: |on| &mut on.broadcasts,
    },
    Reduction {
        name: "symmetry",
        former_name: None,
        base: None,
        preserves: Preserves { terminal: Terminal::UpToRenaming, liveness_weak: Liveness::No, ..EVERYTHING },
        is_local: false,
        orders: Orders::All,
        // Messages in flight cannot be renamed.
        obstacle: |setting| {
            own_network(setting).or_else(|| setting.names_in_texts.then_some(Obstacle::NamesInTexts))
        },
        flag: |on| &mut on.symmetry,
    },
    Reduction {
        name: "machine-garbage",
        former_name: None,
        base: None,
        preserves: Preserves { terminal: Terminal::UpToGarbage, liveness_weak: Liveness::No, ..EVERYTHING },
        is_local: false,
        orders: Orders::All,
        // A bound on machines counts those that have halted.
        obstacle: |setting| {
            own_network(setting)
                .or_else(|| unbounded(setting))
                .or_else(|| setting.names_in_texts.then_some(Obstacle::NamesInTexts))
        },
        flag: |on| &mut on.machine_garbage,
    },
    Reduction {
        name: "persistent-sets",
        former_name: None,
        base: None,
        preserves: Preserves { liveness_weak: Liveness::No, lengths: false, ..EVERYTHING },
        is_local: false,
        orders: Orders::BreadthAndDepth,
        // A crash is dependent on every step of its machine.
        obstacle: |setting| own_network(setting).or_else(|| unbounded(setting)),
        flag: |on| &mut on.persistent_sets,
    },
    Reduction {
        name: "path-compression",
        former_name: Some("chains"),
        base: Some("persistent-sets"),
        preserves: Preserves { liveness_weak: Liveness::No, lengths: false, ..EVERYTHING },
        is_local: false,
        orders: Orders::Breadth,
        obstacle: |setting| own_network(setting).or_else(|| unbounded(setting)),
        flag: |on| &mut on.path_compression,
    },
    Reduction {
        name: "timer-stutter",
        former_name: None,
        base: None,
        preserves: Preserves {
            liveness_random: Liveness::FullGraph,
            liveness_weak: Liveness::FullGraph,
            ..EVERYTHING
        },
        is_local: false,
        orders: Orders::All,
        obstacle: |_| None,
        flag: |on| &mut on.timer_stutter,
    },
    Reduction {
        name: "confluent-sends",
        former_name: Some("hand-overs"),
        base: None,
        preserves: Preserves {
            liveness_random: Liveness::No,
            liveness_weak: Liveness::No,
            lengths: false,
            ..EVERYTHING
        },
        is_local: false,
        orders: Orders::BreadthAndTermination,
        obstacle: |setting| {
            let is_delayed = matches!(setting.model, NetworkModel::Bag | NetworkModel::Fifo);
            unbounded(setting).or_else(|| (!is_delayed).then_some(Obstacle::NotDelayed))
        },
        flag: |on| &mut on.confluent_sends,
    },
    Reduction {
        name: "lazy-faults",
        former_name: Some("late-faults"),
        base: None,
        preserves: Preserves {
            terminal: Terminal::ExceptCrashed,
            liveness_random: Liveness::No,
            liveness_weak: Liveness::No,
            lengths: false,
            ..EVERYTHING
        },
        is_local: false,
        orders: Orders::Breadth,
        obstacle: |setting| {
            let over_inbox = setting.model == NetworkModel::Inbox;
            unbounded(setting)
                .or_else(|| (!setting.has_faults).then_some(Obstacle::NoFaults))
                // A message is in the inbox at once, where its loss is observable.
                .or_else(|| (over_inbox && !setting.has_crashes).then_some(Obstacle::NoCrashes))
        },
        flag: |on| &mut on.lazy_faults,
    },
    Reduction {
        name: "data-independence",
        former_name: None,
        base: None,
        preserves: Preserves {
            terminal: Terminal::UpToChosenNumbers,
            liveness_weak: Liveness::NotUsed,
            ..EVERYTHING
        },
        is_local: true,
        orders: Orders::All,
        obstacle: |setting| match setting.fairness {
            _ if setting.bounds_data => Some(Obstacle::DataBounds),
            Some(Fairness::Weak) => Some(Obstacle::WeakFairness),
            _ => None,
        },
        flag: |on| &mut on.data_independence,
    },
    Reduction {
        name: "counters",
        former_name: None,
        base: None,
        preserves: Preserves {
            terminal: Terminal::UpToRenumbering,
            liveness_weak: Liveness::No,
            ..EVERYTHING
        },
        is_local: false,
        orders: Orders::All,
        // Messages in flight cannot be renumbered, and a bound on a variable counts its numbers. A bound on steps would be met by
        // liveness under weak fairness, which does without, and not by the search.
        obstacle: |setting| {
            own_network(setting)
                .or_else(|| unbounded(setting))
                .or_else(|| setting.bounds_data.then_some(Obstacle::DataBounds))
                .or_else(|| (!setting.has_counters).then_some(Obstacle::NoCounters))
        },
        flag: |on| &mut on.counters,
    },
    Reduction {
        name: "eager-handling",
        former_name: None,
        base: None,
        preserves: Preserves { liveness_random: Liveness::No, liveness_weak: Liveness::No, ..EVERYTHING },
        is_local: false,
        orders: Orders::All,
        // A bound counts what waits in inboxes; and a crash comes between the sends of a handler.
        obstacle: |setting| {
            (!setting.is_symbolic)
                .then_some(Obstacle::SymbolicOnly)
                .or_else(|| unbounded(setting))
                .or_else(|| setting.bounds_data.then_some(Obstacle::DataBounds))
                .or_else(|| setting.has_crashes.then_some(Obstacle::Crashes))
                .or_else(|| setting.has_liveness.then_some(Obstacle::Liveness))
        },
        flag: |on| &mut on.eager_handling,
    },
];

fn own_network(setting: &Setting) -> Option<Obstacle> {
    (setting.has_faults || setting.model != NetworkModel::Inbox).then_some(Obstacle::Network)
}

fn unbounded(setting: &Setting) -> Option<Obstacle> {
    setting.is_bounded.then_some(Obstacle::Bounds)
}

impl Reduction {
    /// The reduction of a name, or of a former name.
    pub fn find(name: &str) -> Option<&'static Reduction> {
        REDUCTIONS.iter().find(|row| row.name == name || row.former_name == Some(name))
    }

    pub fn is_on(&self, on: Reductions) -> bool {
        let mut on = on;
        *(self.flag)(&mut on)
    }

    pub fn set(&self, on: &mut Reductions, is_on: bool) {
        *(self.flag)(on) = is_on;
    }

    /// Why a search does not use it, beside other reductions that are on; `None` if it does.
    pub fn why_not(&self, setting: &Setting, on: Reductions) -> Option<Obstacle> {
        let by_order = match (self.orders, setting.order) {
            (Orders::All, _) | (_, Order::Breadth) | (Orders::BreadthAndDepth, Order::Depth) => None,
            (Orders::BreadthAndDepth, Order::Deepening) => Some(Obstacle::NotDeepening),
            (Orders::Breadth | Orders::BreadthAndTermination, _) => Some(Obstacle::BreadthOnly),
        };
        // Bounds first: they are what users set most.
        match (self.obstacle)(setting) {
            Some(obstacle @ (Obstacle::Network | Obstacle::Bounds)) => Some(obstacle),
            other => by_order.or(other).or_else(|| self.eager_faults(setting, on)),
        }
    }

    /// Sends of machines that can crash, and messages that can be lost, are confluent only with lazy faults.
    fn eager_faults(&self, setting: &Setting, on: Reductions) -> Option<Obstacle> {
        let is_eager = self.name == "confluent-sends" && setting.has_faults && !on.lazy_faults;
        is_eager.then_some(Obstacle::EagerFaults)
    }
}

impl Setting {
    /// As far as the network decides: an unbounded breadth-first search without liveness.
    pub fn over(exe: &Executable) -> Self {
        Setting { has_counters: !exe.numbers().classes().is_empty(), ..Setting::without_counters(exe) }
    }

    /// The same without a look for counters, which takes longer than all the rest.
    pub(crate) fn without_counters(exe: &Executable) -> Self {
        Setting {
            model: exe.network.model,
            has_faults: exe.network.has_faults(),
            has_crashes: exe.network.has_crashes(),
            is_bounded: false,
            bounds_data: false,
            order: Order::Breadth,
            fairness: None,
            has_liveness: false,
            names_in_texts: exe.usage().names_in_texts(),
            has_counters: false,
            is_symbolic: false,
        }
    }

    /// Before the program is known.
    pub fn asked(
        network: &NetworkOptions,
        is_bounded: bool,
        order: Order,
        fairness: Option<Fairness>,
    ) -> Self {
        Setting {
            model: network.model,
            has_faults: network.has_faults(),
            has_crashes: !network.crash.is_empty(),
            is_bounded,
            bounds_data: false,
            order,
            fairness,
            has_liveness: false,
            names_in_texts: false,
            has_counters: true,
            is_symbolic: false,
        }
    }
}

impl Reductions {
    /// The flag of a name.
    pub fn by_name(&mut self, name: &str) -> Option<&mut bool> {
        Reduction::find(name).map(|row| (row.flag)(self))
    }

    /// Those of them that a search uses.
    pub fn within(self, setting: &Setting) -> Reductions {
        let mut on = self;
        // Backwards: confluent sends build on lazy faults, which come after them.
        for row in REDUCTIONS.iter().rev() {
            let is_for_termination = row.orders == Orders::BreadthAndTermination;
            let order = if is_for_termination { Order::Breadth } else { setting.order };
            let setting = Setting { order, ..setting.clone() };
            let is_on = row.is_on(on) && row.why_not(&setting, on).is_none();
            row.set(&mut on, is_on);
        }
        for row in &REDUCTIONS {
            if row.base.and_then(Reduction::find).is_some_and(|base| !base.is_on(on)) {
                row.set(&mut on, false);
            }
        }
        on
    }

    /// What they leave out of single local states. Further parts depend on the search: see [`Simplify`].
    pub fn simplify(self) -> Simplify {
        Simplify {
            dead_variables: self.dead_variables,
            unread_payloads: self.unread_payloads,
            order: self.collection_order,
            counters: false,
            choose_counts: true,
            broadcasts: false,
        }
    }

    /// Those of them that are sound for a program and its network.
    pub fn over(self, exe: &Executable) -> Reductions {
        self.within(&Setting::over(exe))
    }

    /// One alone, with what it builds on.
    pub fn only(name: &str) -> Option<Reductions> {
        let row = Reduction::find(name)?;
        let mut on = Reductions::NONE;
        row.set(&mut on, true);
        if let Some(base) = row.base.and_then(Reduction::find) {
            base.set(&mut on, true);
        }
        Some(on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of docs/semantics.md, section 8, says the same.
    #[test]
    fn the_documentation_agrees() {
        let text = include_str!("../../../../../docs/semantics.md");
        for row in &REDUCTIONS {
            let start = format!("| `{}` |", row.name);
            let line = text.lines().find(|line| line.starts_with(&start));
            let columns: Vec<&str> =
                line.unwrap_or_else(|| panic!("{} has no row", row.name)).split('|').map(str::trim).collect();
            let Preserves { safety, terminal, liveness_random, liveness_weak, lengths } = row.preserves;
            let yes = |is: bool| if is { "yes" } else { "no" };
            let liveness = |liveness| match liveness {
                Liveness::Yes => "yes",
                Liveness::No => "no",
                Liveness::FullGraph => "on the full graph",
                Liveness::NotUsed => "not used",
            };
            let terminal = match terminal {
                Terminal::Yes => "yes",
                Terminal::UpToRenaming => "up to renaming",
                Terminal::UpToGarbage => "up to renaming and garbage",
                Terminal::ExceptCrashed => "except crashed machines",
                Terminal::UpToChosenNumbers => "up to chosen numbers",
                Terminal::UpToRenumbering => "up to renumbering and such entries",
            };
            let expected =
                [yes(safety), terminal, liveness(liveness_random), liveness(liveness_weak), yes(lengths)];
            assert_eq!(columns[3..8], expected, "{}", row.name);
            if let Some(base) = row.base {
                assert!(columns[8].contains(base), "{} needs {base}", row.name);
            }
        }
    }

    #[test]
    fn what_does_not_apply_is_off() {
        let plain = Setting::asked(&NetworkOptions::default(), false, Order::Breadth, None);
        let on = Reductions::ALL.within(&plain);
        let expected = Reductions {
            confluent_sends: false,
            lazy_faults: false,
            eager_handling: false,
            ..Reductions::ALL
        };
        assert_eq!(on, expected);
        let bounded = Reductions::ALL.within(&Setting { is_bounded: true, ..plain.clone() });
        assert!(
            bounded.symmetry && !bounded.persistent_sets && !bounded.path_compression && !bounded.broadcasts
        );
        let fifo =
            Setting { model: NetworkModel::Fifo, has_faults: true, has_crashes: true, ..plain.clone() };
        let on = Reductions::ALL.within(&fifo);
        assert!(on.confluent_sends && on.lazy_faults && !on.symmetry && !on.persistent_sets);
        assert!(!Reductions { lazy_faults: false, ..Reductions::ALL }.within(&fifo).confluent_sends);
        let deepening = Reductions::ALL.within(&Setting { order: Order::Deepening, ..plain });
        assert!(!deepening.persistent_sets && !deepening.path_compression);
    }
}

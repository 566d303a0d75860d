//! Reductions: what need not be looked at because something else that is looked at shows the same. None changes a
//! verdict; each can be turned off; how much each saved is told.
//!
//! Two kinds. *Quotients* take for one what behaves alike step by step: dead variables, unread payloads and collections
//! without order, which local states leave out when they are interned (`allways_machine::simplify`; collections may also have no order because nobody can tell in which order all are told, `allways_machine::broadcast`), and [`symmetry`], where [`probe`] finds it worth its price. They keep
//! the lengths of runs, so bounds mean the same with them, and the witness is looked for with them on. *Orders* leave out
//! steps that can as well come later: [`persistent`], likewise, with [`chain`], and [`confluent_sends`] for networks; and what goes wrong before anybody can tell: [`lazy_faults`]. They apply to searches without bounds: under a bound, what
//! is looked at first decides what the bound cuts off, and the verdict would no longer say what it says.
//!
//! A step that leads back to the very same configuration, like the tick of a timer that has nothing to tell, is dropped where
//! successors are made (`expand`): nothing new is behind it, and that there is such a step, so that the configuration
//! is no end, is counted before. Liveness, to which such steps matter, is decided on a graph with them; under random
//! fairness with symmetry and persistent sets, under weak fairness without (`graph`).

pub(crate) mod confluent_sends;
pub(crate) mod data_independence;
pub(crate) mod lazy_faults;
pub(crate) mod path_compression;
pub(crate) mod persistent;
pub(crate) mod probe;
pub(crate) mod symmetry;

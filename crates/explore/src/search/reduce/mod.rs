//! Reductions: what need not be explored because something else that is explored shows the same. None changes a verdict; each can be
//! turned off; the report says how much each saved. [`table`] lists them, with what each needs and preserves.
//!
//! There are two kinds. *Quotients* merge configurations that behave alike step by step: dead variables, unread payloads and unordered
//! collections, which are removed from local states when these are interned (`allways_machine::simplify`, `allways_machine::broadcast`), [`symmetry`] and
//! [`machine_garbage`].
//! They preserve lengths of runs, so bounds keep their meaning and the counterexample is searched for with them on. *Partial-order
//! reductions* postpone steps: [`persistent`] sets with [`path_compression`], [`confluent_sends`] over networks, and [`lazy_faults`].
//! They apply to searches without bounds: under a bound, the order of steps decides what the bound cuts off, and the verdict
//! would no longer mean what it says. [`probe`] decides whether symmetry and persistent sets pay for themselves.
//!
//! A step that leads back to the same configuration (stuttering), like the tick of an idle timer, is dropped where
//! successors are generated (`expand`), after it was counted as an enabled step: so its configuration is not terminal. Liveness, to which such steps
//! matter, is decided on a graph that has them; under `random` fairness with symmetry and persistent sets, under `weak` fairness without (`liveness`).

pub(crate) mod canonical;
pub(crate) mod confluent_sends;
pub(crate) mod counters;
pub(crate) mod data_independence;
pub(crate) mod lazy_faults;
pub(crate) mod machine_garbage;
pub(crate) mod path_compression;
pub(crate) mod persistent;
pub(crate) mod probe;
pub(crate) mod quotient;
pub(crate) mod symmetry;
pub mod table;

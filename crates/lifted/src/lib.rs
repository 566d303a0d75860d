//! Value summaries and lifted execution: code that runs once for many values.
//!
//! A *guard* is a formula over choice variables, a *summary* is a value that depends on guards, and lifted execution runs the
//! executable code of machines on summaries: a branch splits a guard, a join merges it again, a data choice is a fresh
//! variable. Every operation on single values, and every passage of control between handlers, is the kernel's own code
//! ([`allways_machine::interpret::Pointwise`]); only the spreading over guards is here.
//!
//! Reading order: [`guard`] (formulas), [`summary`] (values), [`local`] (where a machine stands), [`run`] (one machine, from op to
//! op), `endless` (handlers without end), `lifted_ops` (ops on collections), [`frontier`] (all configurations after so many steps), [`filters`]
//! (which of the next steps are looked at).

mod endless;
pub mod filters;
pub mod frontier;
pub mod guard;
mod lifted_ops;
pub mod local;
pub mod run;
pub mod summary;

pub use filters::{FilterOptions, Filters};
pub use frontier::Frontier;
pub use guard::{Assignment, Guard, GuardUsage, Guards, Halt};
pub use local::{LiftedLocal, Point, Points, Stand};
pub use run::{Lifted, LiftedFigures, Thread, Wake};
pub use summary::{Part, Shared, Summary, Values};

//! Running programs: concrete interpreters, schedulers as operational definitions, and explicit
//! exploration on finite data.
//!
//! [`machine`] is the only definition of what a program does: it runs one task from one scheduling
//! point to the next. [`schedule`] says which task that is, under full concurrency, DF(K), DFW(K) or
//! child first. [`mod@run`] makes one run with an [`oracle`] answering every choice, records it as a
//! schedule and shows it as a trace; [`mod@explore`] makes them all.

mod builtin;
pub mod code;
mod eval;
pub mod explore;
pub mod lower;
pub mod machine;
pub mod oracle;
pub mod run;
pub mod schedule;
pub mod value;

pub use code::Code;
pub use eval::World;
pub use explore::{Exploration, ExploreOptions, explore};
pub use lower::{Preemption, lower};
pub use machine::{Assertions, Conf, Failure, FailureKind};
pub use oracle::{Asked, At, Choice, First, Oracle, Random, Replay, Schedule};
pub use run::{Ending, Event, Run, RunOptions, run};
pub use schedule::{Move, Scheduler};
pub use value::{Domains, Limit, Value};

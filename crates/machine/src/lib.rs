//! The executable form of P programs: code, values, configurations, and the kernel that steps through them.
//!
//! A typed program becomes an [`Executable`] for one test; a [`Kernel`] runs it, step by step, every freedom an
//! explicit choice; [`replay()`] turns a schedule back into the run it came from. Beyond this crate nothing knows P's
//! syntax: names and places come from the tables of the executable.
//!
//! Reading order: [`value`] (words and the store), [`ir`] (code), `lower` (how it is made), [`configuration`]
//! (where every machine stands), [`ops`] (what operations do to values), [`interpret`] (one machine from effect to effect), [`rules`]
//! (how messages arrive and are taken), [`network`] (messages in flight),
//! [`kernel`] (the step), [`record`] and [`mod@replay`] (runs for people), [`topology`] (which machines may send to which).
//!
//! What is absent on purpose: search, strategies, bounds on steps, time. The kernel never looks at a clock,
//! never draws a random number and never prints.

pub mod broadcast;
pub mod chart;
pub mod configuration;
pub mod content;
pub mod data;
pub mod decode;
pub mod demand;
pub mod drops;
pub mod encode;
pub mod executable;
pub mod instances;
pub mod interpret;
pub mod invariant;
pub mod ir;
pub mod kernel;
pub mod liveness;
mod lower;
pub mod network;
pub mod numbers;
pub mod ops;
pub mod record;
pub mod replay;
pub mod rules;
pub mod script;
pub mod show;
pub mod simplify;
pub mod topology;
pub mod trace;
pub mod usage;
pub mod value;
pub mod verify;

pub use configuration::{Configuration, Local, Message, Pending, Status, Touched};
pub use data::DataPlan;
pub use executable::Executable;
pub use kernel::{Alone, DataPoint, Kernel, NotEnabled, Oracle, Outcome, Paused, Snapshot};
pub use network::{Copies, InFlight, LateArrival, Network, UnknownName};
pub use numbers::{Numbers, Occurrence, Refused, Renumbering};
pub use record::{Actor, Note, Recorder, Scene, Silent};
pub use replay::{ReplayError, replay, replay_on};
pub use rules::must_wait;
pub use script::{Answers, Script};
pub use simplify::{KnownValues, Simplified, Simplify};
pub use topology::Topology;
pub use trace::{Tracer, trace};
pub use value::{Store, Value};

//! Almost-synchronous exploration: proofs for unbounded inboxes, on the reduced system of docs/semantics.md, section 4.
//!
//! A state is a configuration with a set of *blocked* machines, which never move again. From a state only those machines
//! move whose step touches a *destination set*, and one more move blocks all of them. A set is sufficient when
//! it is closed: a machine that may still send to a member either waits for a message, and then is a member, or stands before a
//! step, and then what that step touches is in the set. Destination sets are chosen so that messages are taken at once,
//! so inboxes stay short, states repeat, and the search terminates although plain search does not.
//!
//! Why that is sufficient. Take any run from a state in which no blocked machine moves. If one of its steps touches the set, the first such
//! step is, by closure, enabled now, and is independent of everything before it in the run, so it can come first. If none does,
//! the run does not move the machines that could touch the set, so it is a run after the block move, too.
//! Most often a step preserves those runs, too, and no block move is needed (see `delegates`).
//! Either way the reduced system simulates the run, and reaches the same local states, faults and monitor states. It does not
//! preserve joint states of several machines: it does not check deadlock or infinite runs.
//!
//! A step *touches* the machine that it delivers to and the monitors that observe it, except those that can no longer change
//! (`topology::settled`): the order in which these observe two steps does not matter. An idle machine that handles null touches itself. Messages to blocked
//! or halted machines touch nothing: they are dropped. So a step may touch nothing at all; it is then taken first, alone, with the move that blocks
//! its machine. A creation touches nothing either, since no other machine knows the new one yet. Blocked and halted machines are one mark in a state, without
//! their local states.
//!
//! A machine that stands before a fault neither waits nor moves: a run in which it does not fail continues without it. The fault is reported
//! for the state in which it stands there. Two faults are one only if kind and place are the same.
//!
//! Where an inbox grows whatever set is chosen, its messages beyond a bound become a set, the *tail*, of which a waiting machine may
//! find any, again and again; what it sends to itself goes there, too. That system has more runs, and all of the above applies to it. A violation
//! counts only if the kernel replays it.
//!
//! A counterexample is *walked*: the kernel makes the moves of the path, one by one, with those answers that lead to the next
//! state; for a state leaves out what is never read, and an answer may mean something else in the run.
//!
//! Reading order: [`options`], `senders` (potential senders, by slot), `places` (local steps; flooded
//! inboxes), `destination` (the choice), `delegates` (when no machine has to be blocked), `sleep` (steps that need not be taken), `engine` (the search), `report` (what comes back), `certificate` and [`certify`]
//! (a proof on file, and its checker).

mod certificate;
pub mod certify;
mod delegates;
mod destination;
mod engine;
pub mod options;
mod places;
pub mod report;
mod senders;
mod sleep;
pub mod survey;

pub use engine::prove;
pub use options::{AlmostSyncOptions, DestinationChoice, FloodRule, Rules};
pub use report::{AlmostSyncReport, Flood};

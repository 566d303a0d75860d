//! Almost-synchronous exploration: proofs for unbounded inboxes, on the reduced system of docs/semantics.md, section 4.
//!
//! A state is a configuration with a set of *blocked* machines, which never move again. From a state only those machines
//! move whose step touches a *destination set*, and one more move blocks all of them. A set is good enough when
//! it is closed: whoever may still send to a member either waits for a message, and then is a member, or stands before a
//! step, and then what that step touches is in the set. Destination sets are chosen so that messages are taken at once,
//! so inboxes stay short, states repeat, and the search ends although plain search does not.
//!
//! Why that is enough. Take any run from a state in which no blocked machine moves. If one of its steps touches the set, the first such
//! step is, by closure, a step that its machine can make now, and nothing before it in the run minds if it comes first. If none does,
//! the run does not move the machines that could touch it, so it is a run after the block move, too.
//! Most often a step keeps those runs, too, and there is no block move (see `delegates`).
//! Either way the reduced system follows, and reaches the same local states, faults and monitor states. What it
//! does not keep are states of several machines together: it says nothing about deadlock, and nothing about infinite runs.
//!
//! A step *touches* whoever it delivers to and the monitors that hear of it, but for those that nothing changes any more
//! (`topology::settled`): in which order these hear of two steps does not matter. An idle machine that handles null touches itself. Messages to blocked
//! or halted machines touch nobody: they are dropped. So a step may touch nothing at all; it then goes first, alone, with the move that blocks
//! its machine. A creation touches nobody either, since nobody knows the new machine yet. Blocked and halted machines are one mark in a state, without
//! their local states.
//!
//! A machine that stands before a fault neither waits nor moves: a run in which it does not fail goes on without it. That it can
//! fail is told by the state in which it stands there. Two faults are one only if kind and place are the same.
//!
//! Where an inbox grows whatever set is chosen, its messages beyond a bound become a set, the *tail*, of which a machine that comes to rest may
//! find any, again and again; what it sends itself goes there, too. That is a system with more runs, to which all of the above applies. A violation
//! counts only if the kernel replays it.
//!
//! A counterexample is *walked*: the kernel makes the moves of the way, one by one, with those answers that lead to the next
//! state; for a state leaves out what does not count, and an answer may mean something else in the run.
//!
//! Reading order: [`options`], `senders` (who may send to whom, by slots), `places` (local steps; inboxes that are
//! flooded), `destination` (the choice), `delegates` (when nobody has to be blocked), `sleep` (steps that need not be made), `engine` (the search), `report` (what comes back), `certificate` and [`certify`]
//! (a proof to hand on, and who checks it).

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

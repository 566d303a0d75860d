//! Multi-valued decision diagrams: sets of vectors of small numbers, and the vectors that events reach from them.
//!
//! The crate knows nothing of programs. A *slot* is a place of a vector, a *level* is the place of a slot in a diagram, and
//! an *event* is a product of local relations, one for each slot that takes part in it. Relations are learned while a search
//! goes on: [`LocalSteps`] is asked for the successors of a value only when some vector of the set needs them.
//!
//! Reading order: [`diagrams`] (nodes, garbage collection, limits), [`sets`] (union, difference, selection, counting),
//! [`events`] (what takes part in an event, and what was learned), [`reach`] (images, saturation, breadth-first layers),
//! `block` (slots of several levels), [`backward`] (preimages).
//!
//! The node form is that of S. Miner and G. Ciardo, *Efficient reachability set generation and storage using decision
//! diagrams*, 1999; saturation is that of G. Ciardo, G. Lüttgen and R. Siminiceanu, *Saturation: an efficient iteration
//! strategy for symbolic state-space generation*, 2001, with relations that grow on the fly as in G. Ciardo, R. Marmorstein
//! and R. Siminiceanu, 2003. We differ in one point: an event whose first party, its *lead*, is below its top level is found
//! by one traversal that collects all such events at once, so that the cost follows the events that a set offers rather than
//! those of the whole system.

pub mod backward;
mod block;
mod cache;
pub mod count;
pub mod diagrams;
pub mod events;
pub mod reach;
pub mod sets;

pub use backward::{Backward, Filter, Rings};
pub use count::Count;
pub use diagrams::{Diagrams, Edge, Halt, Limits, Node, Usage};
pub use events::{BlockStep, EventId, Events, LocalSteps, NewEvent};
pub use reach::Reach;

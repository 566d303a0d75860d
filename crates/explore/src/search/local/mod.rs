//! Local states: everything about one machine, monitor or network, interned (collapse compression, Holzmann 1997), and what
//! each of them does by itself.
//!
//! Reading order: `entries` (plain data), `vector` (a configuration), `states` (interning; below it `steps`, local steps by the kernel), `network` (messages in flight), `memo` (what
//! each thread remembers of them, in a `pair_table`), `recorder` (coverage and temperatures of local steps), `size` (of values).

pub(crate) mod entries;
pub(crate) mod memo;
pub(crate) mod network;
pub(crate) mod pair_table;
pub(crate) mod recorder;
pub(crate) mod size;
pub(crate) mod states;
pub(crate) mod vector;

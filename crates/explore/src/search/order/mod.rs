//! Orders of search: `breadth` (layer by layer on all cores, which synchronise at a `barrier`), `depth` (depth first, and iterative
//! deepening).

pub(crate) mod barrier;
pub(crate) mod breadth;
pub(crate) mod depth;

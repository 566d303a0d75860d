//! Orders of search: `breadth` (layer by layer on all cores, which synchronise at a `barrier`), `depth` (depth first, and iterative
//! deepening).

pub(crate) mod barrier;
pub(crate) mod breadth;
pub(crate) mod depth;

/// In which order configurations are explored.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Order {
    /// Layer by layer, on all threads; counterexamples are shortest.
    #[default]
    Breadth,
    /// One thread, little memory besides the store; counterexamples are long.
    Depth,
    /// Depth first to a depth that doubles each time; counterexamples are at most twice too long.
    Deepening,
}

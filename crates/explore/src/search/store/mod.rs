//! Stores: `table` (the visited set of keys), `runs` (keys on disk), `tree` (exact keys, tree compression), `hash`, `huge_pages` (memory for both).

pub(crate) mod hash;
pub(crate) mod huge_pages;
pub(crate) mod runs;
pub(crate) mod table;
pub(crate) mod tree;

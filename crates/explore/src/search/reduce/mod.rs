//! Reductions: what need not be looked at because something else that is looked at shows the same. None changes a
//! verdict; each can be turned off; how much each saved is told.
//!
//! They apply to breadth-first searches without bounds. Under a bound, what is looked at first decides what the bound
//! cuts off, and the verdict would no longer say what it says.
//!
//! One is always on: registers that are not read again count as null (`allways_machine::liveness`).

pub(super) mod private;

//! The executable form of P programs.

//! The binary as users run it. One test executable for all of it: linking is what takes time.

mod auto;
mod bad_input;
mod boogie;
mod book;
mod certificate;
mod check;
mod cluster;
mod code_pages;
mod common;
mod explore;
mod filters;
mod first_hour;
mod foreign;
mod invariants;
mod models;
mod output;
mod pages;
mod quiesce;
mod quiesce_p;
mod run_pages;
mod scenarios;
mod snapshots;
mod stop;

//! Long runs: engines against oracles on random programs, Allways against a checkout of P, limits measured from outside.
//!
//! `cargo xtask` builds and starts them, and lists their options; it depends on nothing itself, so that its other chores start at once.

mod almost_synchronous;
#[cfg(unix)]
mod child;
#[cfg(unix)]
mod cluster;
mod conformance;
#[cfg(unix)]
mod decided;
mod differential;
#[cfg(unix)]
mod limits;

use std::process::ExitCode;

/// Gives options with their values to `set`, which says whether it knows the option and its value; whether all was understood.
fn options(mut args: &[&str], mut set: impl FnMut(&str, &str) -> bool) -> bool {
    while let [name, value, rest @ ..] = args {
        if !set(name, value) {
            return false;
        }
        args = rest;
    }
    args.is_empty()
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.split_first() {
        Some((&"conformance", rest)) => conformance::run(rest),
        Some((&"almost-synchronous", rest)) => almost_synchronous::run(rest),
        Some((&"differential", rest)) => differential::run(rest),
        #[cfg(unix)]
        Some((&"cluster", rest)) => cluster::run(rest),
        #[cfg(unix)]
        Some((&"decided", rest)) => decided::run(rest),
        #[cfg(unix)]
        Some((&"limits", rest)) => limits::run(rest),
        _ => {
            println!("usage: cargo xtask lists them");
            ExitCode::from(2)
        }
    }
}

//! The command line: arguments in, text and exit status out. Everything that thinks is in other crates.

mod args;
mod commands;
mod exit;
mod interrupt;
mod pages;
mod printer;
mod progress;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let words = args::normalize(std::env::args_os());
    let status = match args::Args::try_parse_from(words) {
        Ok(args) => commands::run(args),
        Err(error) => args::show_usage(&error),
    };
    ExitCode::from(status as u8)
}

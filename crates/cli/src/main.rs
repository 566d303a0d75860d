//! The command line: arguments in, text and exit status out. Everything that thinks is in other crates.

mod annotations;
mod args;
mod commands;
mod exit;
mod interrupt;
mod overdue;
mod pages;
mod printer;
mod progress;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let words = args::normalize(std::env::args_os());
    let is_called_p = words.first().is_some_and(|program| args::is_called_p(program));
    let status = match args::Args::try_parse_from(&words) {
        Ok(args) => commands::run(args, is_called_p),
        Err(error) => args::show_usage(&error, &words),
    };
    ExitCode::from(status as u8)
}

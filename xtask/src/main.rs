//! Chores of the project. `cargo xtask` lists them.

mod almost_synchronous;
#[cfg(unix)]
mod child;
mod conformance;
#[cfg(unix)]
mod decided;
mod differential;
#[cfg(unix)]
mod limits;
mod texts;
mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.split_first() {
        Some((&"conformance", rest)) => conformance::run(rest),
        Some((&"almost-synchronous", rest)) => almost_synchronous::run(rest),
        Some((&"differential", rest)) => differential::run(rest),
        #[cfg(unix)]
        Some((&"decided", rest)) => decided::run(rest),
        #[cfg(unix)]
        Some((&"limits", rest)) => limits::run(rest),
        Some((&"texts", rest)) => texts::run(rest),
        Some((&"tidy", rest)) => tidy::run(rest),
        _ => {
            println!(
                "cargo xtask conformance --p-repo DIR [--static]   compare with a checkout of the P repository"
            );
            println!(
                "cargo xtask differential [--programs N] [--seed S] [--network MODEL|all] [--faults]   oracle against kernel on random programs"
            );
            println!(
                "cargo xtask almost-synchronous [--programs N] [--seed S]   oracle against almost-synchronous exploration"
            );
            println!(
                "cargo xtask differential --boogie [--quiesce] [--programs N] [--seed S]   schedulers, or lassos, against translated programs"
            );
            println!(
                "cargo xtask decided [--p-repo DIR] [--seconds S] [--allways FILE]... [WORD]...   what `prove` decides, as a table"
            );
            println!(
                "cargo xtask limits [--programs N] [--seed S] [--allways FILE]   heavy programs under small limits of time and memory"
            );
            println!("cargo xtask texts   every text that users may read, with its place");
            println!(
                "cargo xtask tidy   rules that no compiler checks: crate edges, module docs, dangling references"
            );
            if words.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) }
        }
    }
}

//! Chores of the project. `cargo xtask` lists them. Those that run programs for long are in `campaigns`, which is built when one is asked for.

mod texts;
mod tidy;

use std::path::Path;
use std::process::{Command, ExitCode};

/// Long runs.
const CAMPAIGNS: &[&str] =
    &["conformance", "almost-synchronous", "differential", "decided", "limits", "cluster"];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.split_first() {
        Some((&"texts", rest)) => texts::run(rest),
        Some((&"tidy", rest)) => tidy::run(rest),
        Some((name, _)) if CAMPAIGNS.contains(name) => campaign(&words),
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
            println!(
                "cargo xtask cluster compare|lose|figures [--namespaces]   several processes against one; lost processes; what they cost"
            );
            println!("cargo xtask texts   every text that users may read, with its place");
            println!(
                "cargo xtask tidy   rules that no compiler checks: crate edges, module docs, dangling references"
            );
            if words.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) }
        }
    }
}

/// Builds the long runs and starts one.
fn campaign(words: &[&str]) -> ExitCode {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--release", "--package", "allways-campaigns", "--manifest-path"]);
    command.arg(manifest).arg("--").args(words);
    match command.status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            println!("cargo does not start: {error}");
            ExitCode::from(2)
        }
    }
}

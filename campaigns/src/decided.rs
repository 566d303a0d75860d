//! What `allways prove` decides within a limit of time, with its default engine: P's portfolio and tutorials on a checkout, and the models
//! that ship with Allways, test by test, as a table. Several binaries stand side by side.
//!
//! The checkout is read, and nothing of it is kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use allways_driver::Request;

use crate::child;
use crate::conformance::models_below;

struct Options {
    repo: Option<PathBuf>,
    seconds: u64,
    gigabytes: f64,
    binaries: Vec<PathBuf>,
    /// Of a project or test, part of the name.
    words: Vec<String>,
}

pub fn run(args: &[&str]) -> ExitCode {
    let Some(options) = parse(args) else {
        eprintln!(
            "usage: cargo xtask decided [--p-repo DIR] [--seconds S] [--memory GB] [--allways FILE]... [word of a project or test]..."
        );
        return ExitCode::from(2);
    };
    if let Some(missing) = options.binaries.iter().find(|path| !path.is_file()) {
        eprintln!("xtask decided: `{}` is not built", missing.display());
        return ExitCode::from(2);
    }
    let mut groups = vec![("models", Path::new(env!("CARGO_MANIFEST_DIR")).join("../models"))];
    if let Some(repo) = &options.repo {
        groups.push(("portfolio", repo.join("Tst/PortfolioTests")));
        groups.push(("tutorials", repo.join("Tutorial")));
    }
    let folder = std::env::temp_dir().join(format!("allways-decided-{}", std::process::id()));
    let mut totals = Vec::new();
    for (group, root) in groups {
        let projects = models_below(&root);
        if projects.is_empty() {
            eprintln!("xtask decided: no projects in `{}`", root.display());
            return ExitCode::from(2);
        }
        let mut n_tests = 0;
        let mut n_decided = vec![0; options.binaries.len()];
        for project in projects {
            let name = format!("{group}/{}", project.strip_prefix(&root).unwrap_or(&project).display());
            let request = Request { paths: vec![project.clone()], ..Request::default() };
            let compilation = allways_driver::compile(&request, false);
            if compilation.project.for_verifier {
                continue;
            }
            let Some(program) = compilation.program else {
                println!("{name}: rejected");
                continue;
            };
            for test in &program.tests {
                let is_asked =
                    |word: &String| name.contains(word.as_str()) || test.name.contains(word.as_str());
                if !options.words.iter().all(is_asked) {
                    continue;
                }
                n_tests += 1;
                print!("{name:<44} {:<44}", test.name);
                for (binary, decided) in options.binaries.iter().zip(&mut n_decided) {
                    let (text, is_decided) = match prove(binary, &folder, &project, &test.name, &options) {
                        Ok(answer) => answer,
                        Err(error) => (error.to_string(), false),
                    };
                    *decided += u32::from(is_decided);
                    print!(" | {text}");
                }
                println!();
            }
        }
        totals.push((group, n_tests, n_decided));
    }
    let _ = fs::remove_dir_all(&folder);
    println!();
    for (group, n_tests, n_decided) in totals {
        let n_decided: Vec<String> = n_decided.iter().map(u32::to_string).collect();
        println!("{group}: {} of {n_tests} tests decided", n_decided.join(" | "));
    }
    ExitCode::SUCCESS
}

fn parse(args: &[&str]) -> Option<Options> {
    let mut options =
        Options { repo: None, seconds: 60, gigabytes: 4.0, binaries: Vec::new(), words: Vec::new() };
    let mut args = args.iter();
    while let Some(&arg) = args.next() {
        match arg {
            "--p-repo" => options.repo = Some(PathBuf::from(args.next()?)),
            "--seconds" => options.seconds = args.next()?.parse().ok()?,
            "--memory" => options.gigabytes = args.next()?.parse().ok()?,
            "--allways" => options.binaries.push(fs::canonicalize(args.next()?).ok()?),
            _ if arg.starts_with("--") => return None,
            word => options.words.push(word.to_owned()),
        }
    }
    if options.binaries.is_empty() {
        options.binaries.push(child::allways_beside()?);
    }
    Some(options)
}

/// One cell of the table, and whether it is an answer.
fn prove(
    binary: &Path,
    folder: &Path,
    project: &Path,
    test: &str,
    options: &Options,
) -> std::io::Result<(String, bool)> {
    fs::create_dir_all(folder)?;
    let mut command = Command::new(binary);
    command.args(["prove", "-tc", test, "-o", "out"]).arg(fs::canonicalize(project)?);
    command.args(["-t", &options.seconds.to_string(), "-m", &options.gigabytes.to_string()]);
    let ended = child::measure(&mut command, folder, None)?;
    let status = ended.status.code();
    let verdict = match status {
        Some(0) if ended.stdout.contains("holds within bounds") => "bounded",
        Some(0) => "proved",
        Some(1) => "violated",
        Some(3) => "unknown",
        _ => "error",
    };
    let is_decided = matches!(status, Some(0 | 1));
    let text = format!(
        "{verdict:<8} {:>7.1} s wall {:>7.1} s CPU {:>6.0} MB",
        ended.seconds, ended.cpu, ended.megabytes
    );
    Ok((text, is_decided))
}

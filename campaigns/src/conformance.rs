//! Compares Allways with what the P repository says of its own programs.
//!
//! The expectation is in the folder names of the checkout: `Correct`, `DynamicError`, `StaticError`. Nothing
//! is copied from it. [`dynamic`] runs what is to be run.

mod dynamic;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use allways_driver::{Compilation, Request};

pub fn run(args: &[&str]) -> ExitCode {
    let mut repo = None;
    let mut static_only = false;
    let mut with_tutorials = false;
    let mut seed = 0;
    let mut args = args.iter();
    while let Some(&arg) = args.next() {
        match arg {
            "--p-repo" => repo = args.next().map(PathBuf::from),
            "--static" => static_only = true,
            "--tutorials" => with_tutorials = true,
            "--seed" => match args.next().and_then(|word| word.parse().ok()) {
                Some(number) => seed = number,
                None => return usage("`--seed` wants a number"),
            },
            _ => return usage(&format!("unknown argument `{arg}`")),
        }
    }
    let Some(repo) = repo else { return usage("`--p-repo DIR` is missing") };
    if !repo.join("Tst/RegressionTests").is_dir() {
        return usage(&format!("`{}` is not a checkout of the P repository", repo.display()));
    }
    let mut scores = static_scores(&repo);
    if !static_only {
        scores.extend(dynamic::regression_scores(&repo, seed));
    }
    if with_tutorials {
        scores.push(dynamic::tutorial_score(&repo, seed));
    }
    let mut is_whole = true;
    for score in &scores {
        let slowest = match &score.slowest {
            Some((seconds, name)) => format!("   slowest {seconds:.1} s: {name}"),
            None => String::new(),
        };
        println!("{:<44} {:>4} of {:>4}{slowest}", score.name, score.n_right, score.n_all);
        for difference in &score.differences {
            println!("    {difference}");
        }
        for exception in &score.exceptions {
            println!("    exception: {exception}");
        }
        is_whole &= score.n_right == score.n_all;
    }
    if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage(problem: &str) -> ExitCode {
    eprintln!(
        "xtask conformance: {problem}\nusage: cargo xtask conformance --p-repo DIR [--static] [--tutorials] [--seed N]"
    );
    ExitCode::from(2)
}

/// How many programs of one kind are treated as expected.
struct Score {
    name: String,
    n_right: usize,
    n_all: usize,
    differences: Vec<String>,
    /// Programs that are not held to what their folder says, with the reason.
    exceptions: Vec<String>,
    /// The one that took longest, in seconds.
    slowest: Option<(f64, String)>,
}

impl Score {
    fn new(name: impl Into<String>) -> Self {
        Score {
            name: name.into(),
            n_right: 0,
            n_all: 0,
            differences: Vec::new(),
            exceptions: Vec::new(),
            slowest: None,
        }
    }

    fn time(&mut self, seconds: f64, name: &str) {
        if self.slowest.as_ref().is_none_or(|(most, _)| seconds > *most) {
            self.slowest = Some((seconds, name.to_owned()));
        }
    }

    fn count(&mut self, is_right: bool, difference: impl FnOnce() -> String) {
        self.n_all += 1;
        if is_right {
            self.n_right += 1;
        } else {
            self.differences.push(difference());
        }
    }
}

fn static_scores(repo: &Path) -> Vec<Score> {
    let mut scores = Vec::new();
    let suite = repo.join("Tst/RegressionTests");
    for kind in ["Correct", "DynamicError", "StaticError"] {
        let mut score = Score::new(format!("regression suite, static: {kind}"));
        for group in folders(&suite) {
            for test in folders(&group.join(kind)) {
                let compilation = compile(&test);
                let is_right = compilation.program.is_none() == (kind == "StaticError");
                score.count(is_right, || format!("{}: {}", shown(&test, &suite), first_error(&compilation)));
            }
        }
        scores.push(score);
    }
    scores.push(expanded_names(&suite));

    let mut tutorials = Score::new("tutorials with a PChecker target");
    for project in projects_below(&repo.join("Tutorial")) {
        let compilation = compile(&project);
        if compilation.project.for_verifier {
            continue;
        }
        tutorials.count(compilation.program.is_some(), || {
            format!("{}: {}", shown(&project, repo), first_error(&compilation))
        });
    }
    scores.push(tutorials);

    let mut portfolio = Score::new("portfolio models");
    let root = repo.join("Tst/PortfolioTests");
    for model in models_below(&root) {
        let compilation = compile(&model);
        portfolio.count(compilation.program.is_some(), || {
            format!("{}: {}", shown(&model, &root), first_error(&compilation))
        });
    }
    scores.push(portfolio);
    scores
}

/// The names that the repository expects of its parameterized test, in order.
fn expanded_names(suite: &Path) -> Score {
    let mut score = Score::new("expanded test names, in order");
    let folder = suite.join("Feature1SMLevelDecls/Correct/ParamTest");
    let expected = fs::read_to_string(folder.join("ExpectedParametricTests.txt")).unwrap_or_default();
    let expected: Vec<&str> =
        expected.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).collect();
    let compilation = compile(&folder);
    let names: Vec<String> =
        compilation.program.iter().flat_map(|program| &program.tests).map(|test| test.name.clone()).collect();
    for i in 0..expected.len().max(names.len()) {
        let (want, have) = (expected.get(i).copied(), names.get(i).map(String::as_str));
        score.count(want == have, || format!("{i}: expected {want:?}, have {have:?}"));
    }
    score
}

fn compile(path: &Path) -> Compilation {
    allways_driver::compile(&Request { paths: vec![path.to_owned()], ..Request::default() }, false)
}

fn first_error(compilation: &Compilation) -> String {
    match compilation.diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
        None => "accepted".to_owned(),
        Some(error) => {
            let place = error.primary.as_ref().map(|label| compilation.sources().place(label.span));
            format!("{} [{}] {}", place.unwrap_or_default(), error.code, error.message)
        }
    }
}

fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(path)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .filter(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().contains("_disabled")))
        .collect();
    entries.sort();
    entries
}

fn projects_below(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut work = vec![path.to_owned()];
    while let Some(folder) = work.pop() {
        work.extend(folders(&folder));
        let mut here: Vec<PathBuf> = fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "pproj"))
            .collect();
        found.append(&mut here);
    }
    found.sort();
    found
}

/// A model is a project, or a folder with `.p` files that is part of no project.
pub fn models_below(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in folders(root) {
        let entries: Vec<PathBuf> = fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .collect();
        let has =
            |extension: &str| entries.iter().any(|path| path.extension().is_some_and(|e| e == extension));
        if has("pproj") || has("p") {
            found.push(folder);
        } else {
            found.extend(models_below(&folder));
        }
    }
    found
}

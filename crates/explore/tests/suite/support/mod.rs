//! What tests of searches share: programs, and a plain search to compare with.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod compare;

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use allways_base::Sources;
use allways_explore::Never;
use allways_explore::search::{ProveOptions, ProveReport, Reductions, StoreKind, prove};
use allways_machine::{Executable, Kernel, Outcome, Script, Silent};
use allways_p::{Dialect, FileRole, Input, hir};
use allways_run::{Choice, Limits, Quiet, ViolationKind};

/// Compiles one text.
pub fn compile(name: &str, text: &str) -> Result<hir::Program, String> {
    let mut sources = Sources::default();
    let file = sources.add(name.to_owned(), text.to_owned());
    let compiled =
        allways_p::compile(&sources, &[Input { file, role: FileRole::Source }], Dialect::default());
    compiled.program.ok_or_else(|| {
        let texts = compiled.diagnostics.iter().map(|diagnostic| {
            let place = diagnostic.primary.as_ref().map(|label| sources.place(label.span));
            format!("{}: {}", place.unwrap_or_default(), diagnostic.message)
        });
        texts.collect::<Vec<_>>().join("\n")
    })
}

/// A search in the exact store without static analysis of the program, and without liveness. Should it not end, it is to end
/// some time: its memory is bounded.
pub fn prove_exactly(exe: &Arc<Executable>, reductions: Reductions, n_threads: usize) -> ProveReport {
    let options = ProveOptions {
        store: StoreKind::Exact,
        reductions,
        probes: false,
        fairness: None,
        n_threads,
        limits: Limits { memory_bytes: Some(1 << 28), ..Limits::default() },
        ..ProveOptions::default()
    };
    prove(exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"))
}

/// Names and texts of the programs of `corpus/p/run`.
pub fn corpus() -> Vec<(String, String)> {
    texts("corpus/p/run")
}

/// Names and texts of the P files of a folder of the project.
pub fn texts(folder: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "p"))
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).expect("readable"))
        })
        .collect()
}

/// The folders below a folder of the project that hold P files, as paths from there.
pub fn folders(folder: &str) -> Vec<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(root.join(&folder)).expect("the folder is there");
        for entry in entries {
            let path = entry.expect("readable").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(format!("{folder}/{name}"));
            } else if path.extension().is_some_and(|ext| ext == "p") && !found.contains(&folder) {
                found.push(folder.clone());
            }
        }
    }
    found.sort();
    found
}

/// What the plain search saw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plain {
    pub n_configurations: u64,
    pub n_ends: u64,
    pub depth: u64,
    /// Steps of a shortest path to a violation, and the kinds met after so many.
    pub broken: Option<(u64, Vec<ViolationKind>)>,
    pub is_unknown: bool,
}

/// Breadth first over snapshots of the kernel, configurations distinguished by their bytes. `None` when there are too many.
pub fn plain(exe: &Arc<Executable>, limits: Limits, max_configurations: usize) -> Option<Plain> {
    let mut kernel = Kernel::new(exe.clone(), limits);
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut found = Plain { n_configurations: 0, n_ends: 0, depth: 0, broken: None, is_unknown: false };
    let bytes_of = |kernel: &Kernel| {
        let mut bytes = Vec::new();
        kernel.encode_whole(&mut bytes);
        bytes
    };
    seen.insert(bytes_of(&kernel));
    let mut open = VecDeque::from([(kernel.save(), 0u64)]);
    while let Some((snapshot, depth)) = open.pop_front() {
        if found.broken.as_ref().is_some_and(|(shortest, _)| depth + 1 > *shortest) {
            break;
        }
        if seen.len() > max_configurations {
            return None;
        }
        found.depth = found.depth.max(depth);
        kernel.restore(&snapshot);
        let choices: Vec<Choice> = kernel.choices().chain(kernel.crashes().map(Choice::Crash)).collect();
        for choice in choices {
            let mut script = Script::default();
            for n_resolutions in 0.. {
                if n_resolutions > max_configurations {
                    return None;
                }
                kernel.restore(&snapshot);
                kernel.take(choice, &mut script, &mut Silent).expect("it is enabled");
                let is_end = match kernel.outcome() {
                    Outcome::Running => false,
                    Outcome::Quiescent => true,
                    Outcome::Violated(violation) => {
                        let (_, kinds) = found.broken.get_or_insert_with(|| (depth + 1, Vec::new()));
                        kinds.push(violation.kind);
                        matches!(violation.kind, ViolationKind::Deadlock | ViolationKind::HotAtEnd)
                    }
                    Outcome::Unknown(_) => {
                        found.is_unknown = true;
                        false
                    }
                };
                let is_over = !matches!(kernel.outcome(), Outcome::Running);
                if (!is_over || is_end) && seen.insert(bytes_of(&kernel)) {
                    found.n_ends += u64::from(is_end);
                    if is_end {
                        found.depth = found.depth.max(depth + 1);
                    } else {
                        open.push_back((kernel.save(), depth + 1));
                    }
                }
                if !script.advance() {
                    break;
                }
            }
        }
    }
    found.n_configurations = seen.len() as u64;
    Some(found)
}

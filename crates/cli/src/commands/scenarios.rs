//! `allways merge-scenario-coverage`: the coverage of scenarios over several test cases.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use allways_report::scenario::{self, ScenarioFile};

use crate::args::ScenariosArgs;
use crate::exit::ExitStatus;
use crate::printer;

/// Folders below the one that is given; results lie three deep.
const MAX_DEPTH: usize = 16;

pub fn merge(args: &ScenariosArgs) -> ExitStatus {
    let mut files = Vec::new();
    if let Err(problem) = find(&args.folder, MAX_DEPTH, &mut files) {
        printer::err(&format!("`{}` cannot be read: {problem}\n", args.folder.display()));
        return ExitStatus::Rejected;
    }
    // Of each test case the latest file counts: earlier results are kept beside it.
    let mut latest: BTreeMap<String, (SystemTime, ScenarioFile)> = BTreeMap::new();
    for (when, path) in files {
        let text = fs::read_to_string(&path).map_err(|error| error.to_string());
        match text.and_then(|text| scenario::parse(&text)) {
            Ok(file) => {
                let known = latest.get(&file.test_case).map(|(when, _)| *when);
                if known.is_none_or(|known| known < when) {
                    latest.insert(file.test_case.clone(), (when, file));
                }
            }
            Err(problem) => {
                printer::err(&format!("`{}` is no coverage of scenarios: {problem}\n", path.display()));
                return ExitStatus::Rejected;
            }
        }
    }
    if latest.is_empty() {
        printer::err(&format!(
            "there is no file `*{}` below `{}`; `allways check` writes one for each test case of a program with scenarios\n",
            scenario::FILE_SUFFIX,
            args.folder.display()
        ));
        return ExitStatus::Rejected;
    }
    let files: Vec<ScenarioFile> = latest.into_values().map(|(_, file)| file).collect();
    printer::out(&scenario::render_sum(&files));
    ExitStatus::Success
}

/// The files of scenarios below a folder, in the order of their paths.
fn find(folder: &Path, depth: usize, files: &mut Vec<(SystemTime, PathBuf)>) -> std::io::Result<()> {
    let mut entries: Vec<fs::DirEntry> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() && depth > 0 {
            find(&path, depth - 1, files)?;
        } else if kind.is_file() && path.to_string_lossy().ends_with(scenario::FILE_SUFFIX) {
            files.push((entry.metadata()?.modified()?, path));
        }
    }
    Ok(())
}
